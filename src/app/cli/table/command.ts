/** One row of the table of commands: dispatch, help, completion and docs/reference/commands.md are made from it. */

export const commandGroups = {
  simulate: 'Simulate',
  look: 'Look at a running simulator',
  change: 'Change a running simulator',
  make: 'Make and check',
  help: 'Help',
} as const;
export type CommandGroup = keyof typeof commandGroups;

/** Names that a shell completes: those that come with the program, or the files of the folder. */
export type NameList = 'scenarios' | 'events' | 'faults' | 'configs' | 'topics' | 'files';

export interface CommandOption {
  /** with its dashes */
  readonly flag: string;
  /** placeholder of its value; absent: a switch */
  readonly value?: string;
  readonly line: string;
  readonly repeats?: true;
}

export interface Command {
  readonly name: string;
  readonly group: CommandGroup;
  /** a line of at most 54 characters */
  readonly line: string;
  /** forms, without `derbench` */
  readonly usage: readonly string[];
  readonly options?: readonly CommandOption[];
  readonly examples: readonly (readonly [command: string, effect: string])[];
  /** names or words that are its arguments */
  readonly completes?: NameList | readonly string[];
  /** further sentences of its help */
  readonly notes?: readonly string[];
  /**
   * `client`: asks a running simulator, without loading the program; `flags`: takes the flags of the simulator; `itself`:
   * its module prints its help and reads its words
   */
  readonly runs: 'client' | 'program' | 'flags' | 'itself';
  /** true: it changes the simulator, and says which one */
  readonly changes?: true;
}
