/** The document of a version, from what ran and from the document before. */
import { lookOf, notRun, outsideRun } from './verdicts.ts';
import { versionOf } from './versions.ts';
import type { Disagreement, Evidence, JudgeVerdict, Look, ProcedureVerdict, Protocol } from './document.ts';
import type { Selector, TestRun } from './verdicts.ts';
import type { VersionSource } from './versions.ts';

export interface Judge {
  readonly id: string;
  readonly name: string;
  readonly home: string;
  readonly protocol: Protocol;
  /** part that it plays beside derbench */
  readonly role: string;
  /** code that it shares with derbench; absent: it is independent */
  readonly shares?: string;
  readonly version: VersionSource;
  readonly tests: readonly Selector[];
  readonly known?: readonly Disagreement[];
}

/** A procedure of a standard that this repository has written down itself, and judges itself. */
export interface Procedure {
  readonly id: string;
  readonly name: string;
  readonly clauses: string;
  readonly tests: readonly Selector[];
}

/** Rows of test/interop/judges.ts. */
export interface Table {
  readonly judges: readonly Judge[];
  readonly procedures: readonly Procedure[];
  readonly gaps: Readonly<Partial<Record<Protocol, readonly string[]>>>;
  /** names that `describeWith` takes */
  readonly peers: ReadonlySet<string>;
}

export interface Occasion {
  readonly run: TestRun;
  /** ids of the judges and procedures of the run */
  readonly chosen: ReadonlySet<string>;
  readonly heading: Omit<Evidence, 'judges' | 'procedures' | 'gaps'>;
  /** document of the same version; a verdict on the same files goes on counting */
  readonly before: Evidence | null;
  /** root of the checkout, for versions */
  readonly root: string;
}

/** Ids of the rows whose id, name or protocol contains one of the texts; all without a text. */
export function chosenIds({ judges, procedures }: Table, texts: readonly string[]): ReadonlySet<string> {
  const rows = [
    ...judges.map(({ id, name, protocol }) => ({ id, words: `${id} ${name} ${protocol}` })),
    ...procedures.map(({ id, name }) => ({ id, words: `${id} ${name}` })),
  ];
  const fits = (words: string) => texts.some((text) => words.toLowerCase().includes(text.toLowerCase()));
  return new Set(rows.filter(({ words }) => texts.length === 0 || fits(words)).map(({ id }) => id));
}

/** Members of a `Look` alone. */
function lookIn({ verdict, reason, date, commit, failed_runs, tests, skips, failures, suites }: Look): Look {
  return { verdict, reason, date, commit, failed_runs, tests, skips, failures, suites };
}

export function evidenceOf(table: Table, { run, chosen, heading, before, root }: Occasion): Evidence {
  const kept = before?.source === heading.source ? before : null;
  const look = ({ id, tests }: Judge | Procedure, earlier: Look | undefined): Look => {
    if (!chosen.has(id)) return earlier === undefined ? notRun(outsideRun) : lookIn(earlier);
    const failedRuns = (earlier?.failed_runs ?? 0) + (earlier?.verdict === 'failed' ? 1 : 0);
    return { ...lookOf(run, tests, table.peers), failed_runs: failedRuns };
  };
  const judgeVerdict = (judge: Judge): JudgeVerdict => {
    const { id, name, home, protocol, role, shares = null, known = [] } = judge;
    const earlier = kept?.judges.find((each) => each.id === id);
    const seen = look(judge, earlier);
    const installed = chosen.has(id) ? versionOf(judge.version, root) : (earlier?.judge_version ?? null);
    const facts = { id, name, home, judge_version: seen.verdict === 'not_run' ? null : installed, protocol, role };
    const independent = shares === null ? ('yes' as const) : ('no' as const);
    return { ...facts, independent, shares, ...seen, known: [...known] };
  };
  const procedureVerdict = (procedure: Procedure): ProcedureVerdict => {
    const { id, name, clauses } = procedure;
    const earlier = kept?.procedures.find((each) => each.id === id);
    return { id, name, clauses, ...look(procedure, earlier) };
  };
  return {
    ...heading,
    judges: table.judges.map(judgeVerdict),
    gaps: Object.fromEntries(Object.entries(table.gaps).map(([protocol, texts]) => [protocol, [...texts]])),
    procedures: table.procedures.map(procedureVerdict),
  };
}

/** Known disagreements that name no test, a text each: their test was renamed, or they are settled. */
export function staleDisagreements({ judges }: Table, plan: TestRun['plan'], chosen: ReadonlySet<string>) {
  return judges
    .filter(({ id }) => chosen.has(id))
    .flatMap(({ id, known = [] }) =>
      known
        .filter(({ test }) => !plan.some(({ title }) => title.startsWith(test)))
        .map(({ test }) => `${id}: no test begins with "${test}"`),
    );
}
