/** Words in front of the flags that ask for something else than the simulator. */
export const subcommandNames = ['run', 'check', 'replay'] as const;
export type SubcommandName = (typeof subcommandNames)[number];

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
