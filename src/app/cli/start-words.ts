/** Which command lines start a simulator. */

/** True if flags ask for the short help: no flag takes `-h` as its value. */
export const asksForShortHelp = (words: readonly string[]) => words.includes('-h') && !words.includes('--help');

/** True for flags of the simulator, and for no word at all. */
export function isStart(words: readonly string[]): boolean {
  const [first] = words;
  return first === undefined || (first.startsWith('-') && !asksForShortHelp(words));
}
