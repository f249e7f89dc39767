/** A report of Stryker as figures: how many mutants the tests of a module kill, and which survive. */

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Location {
  readonly start: Position;
  readonly end: Position;
}

interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: string;
  readonly location: Location;
}

/** The part of a report that is used; lines and columns count from 1. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
}

/** A mutant by its text, which stays when lines before it come and go. */
export interface MutantText {
  readonly file: string;
  /** without the space around it */
  readonly line: string;
  readonly original: string;
  readonly mutator: string;
  readonly replacement: string;
}

/** A mutant that behaves as the source does. */
export interface Equivalent extends MutantText {
  readonly reason: string;
}

export interface Mutant extends MutantText {
  readonly lineNumber: number;
  readonly status: string;
}

export interface Figures {
  readonly killed: number;
  readonly survived: number;
  readonly timeout: number;
  readonly noCoverage: number;
  /** killed ones and those that ran too long, of all, in percent */
  readonly score: number;
}

export interface Judgement {
  readonly figures: Figures;
  /** without the equivalent ones */
  readonly survivors: readonly Mutant[];
  readonly equivalentShare: number;
  /** entries for equivalents that are no survivors */
  readonly stale: readonly Equivalent[];
}

function textBetween(source: string, { start, end }: Location): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  return lines
    .map((line, i) => {
      const from = i === 0 ? start.column - 1 : 0;
      return i === lines.length - 1 ? line.slice(from, end.column - 1) : line.slice(from);
    })
    .join('\n');
}

function mutantsOf({ files }: Report): readonly Mutant[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map(({ location, mutatorName, replacement, status }) => ({
      file,
      lineNumber: location.start.line,
      line: source.split('\n')[location.start.line - 1]?.trim() ?? '',
      original: textBetween(source, location),
      mutator: mutatorName,
      replacement,
      status,
    })),
  );
}

const identity = ['file', 'line', 'original', 'mutator', 'replacement'] as const;

function isSame(mutant: MutantText, equivalent: MutantText): boolean {
  return identity.every((member) => mutant[member] === equivalent[member]);
}

function survives({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage';
}

/** @param equivalents those of the files of the report */
export function judged(report: Report, equivalents: readonly Equivalent[]): Judgement {
  const mutants = mutantsOf(report);
  const isEquivalent = (mutant: Mutant): boolean =>
    survives(mutant) && equivalents.some((equivalent) => isSame(mutant, equivalent));
  const counted = mutants.filter((mutant) => !isEquivalent(mutant));
  const count = (status: string): number => counted.filter((mutant) => mutant.status === status).length;
  const [killed, timeout] = [count('Killed'), count('Timeout')];
  const [survived, noCoverage] = [count('Survived'), count('NoCoverage')];
  const total = killed + timeout + survived + noCoverage;
  const score = total === 0 ? 0 : Math.round(((killed + timeout) / total) * 1000) / 10;
  return {
    figures: { killed, survived, timeout, noCoverage, score },
    survivors: counted.filter(survives),
    equivalentShare: (mutants.length - counted.length) / Math.max(1, total),
    stale: equivalents.filter(
      (equivalent) => !mutants.some((mutant) => survives(mutant) && isSame(mutant, equivalent)),
    ),
  };
}

/** One line for a survivor: its place, and the text that became another. */
export function inWords({ file, lineNumber, mutator, original, replacement, status }: Mutant): string {
  const short = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 90);
  const coverage = status === 'NoCoverage' ? ', no test runs it' : '';
  return `${file}:${lineNumber} ${mutator}${coverage}: ${short(original)} -> ${short(replacement)}`;
}

/** Comments that switch Stryker off without a reason after a colon, as `line 7`. */
export function unexplained(source: string): readonly string[] {
  return source
    .split('\n')
    .flatMap((line, i) => (/\/\/ Stryker disable\b(?!.*:\s*\S)/.test(line) ? [`line ${i + 1}`] : []));
}
