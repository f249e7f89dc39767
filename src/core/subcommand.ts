/** Subcommands, which precede the flags and run instead of the simulator, and the exit codes of the program. */

const subcommandNames = ['run', 'check', 'replay', 'state', 'pki'] as const;
type SubcommandName = (typeof subcommandNames)[number];

export function isSubcommand(word: string | undefined): word is SubcommandName {
  return (subcommandNames as readonly (string | undefined)[]).includes(word);
}

/** True if a command line, or the environment, asks for a subcommand or a scenario: their code is loaded only then. */
export function asksForSubcommand(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const isScenario = env['DERBENCH_SCENARIO'] !== undefined || words.some((word) => word.startsWith('--scenario'));
  return isSubcommand(words[0]) || isScenario;
}

/** Exit codes of the process; `--help` explains them. `killed` is how shells show SIGKILL. */
export const exitCodes = { ok: 0, internal: 1, usage: 2, addressInUse: 3, failed: 4, killed: 137 } as const;
