/** Exit codes of the process. */

/** `interrupted` and `killed` are how shells show SIGINT and SIGKILL. */
export const exitCodes = {
  ok: 0,
  internal: 1,
  usage: 2,
  addressInUse: 3,
  failed: 4,
  unreachable: 5,
  refused: 6,
  leaseLost: 7,
  interrupted: 130,
  killed: 137,
} as const;

/** Meanings for `--help`, `help exit-codes` and the reference of commands. */
export const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'Ended by SIGINT, SIGTERM or POST stop; also after help and version.',
  internal:
    'An internal error, too few file descriptors, or ended by a second signal; "health" and "doctor" found something wrong.',
  usage: 'A flag, a variable or the configuration file is not valid; every issue is printed.',
  addressInUse: 'A port or serial line cannot be opened, or the simulator cannot start with a restored state.',
  failed:
    'An assertion or step of a scenario failed, a peer broke a rule of --findings_fail_on, or "wait" ended without the value.',
  unreachable: 'No simulator answers at the address of --url; "health" ends with 1.',
  refused: 'The simulator refused the request of a command; the text has its code.',
  leaseLost: 'Another process has taken the name of this shard in its fleet.',
  interrupted: 'A command was interrupted by SIGINT.',
  killed: 'Instead of 0 or 1, if the program ends while the system looks up a host name: only SIGKILL interrupts that.',
};
