/** The form of docs/evidence/VERSION.json, from which the page beside it is made. */
import { z } from 'zod';

/** The tables of the page, in their order, with their titles. */
export const protocols = {
  sunspec: 'SunSpec Modbus',
  csip: 'IEEE 2030.5 (CSIP)',
  ocpp: 'OCPP',
  dnp3: 'DNP3 (IEEE 1815)',
  http: 'HTTP interface and metrics',
  physics: 'Physics and co-simulation',
  dashboard: 'Dashboard',
  packaging: 'Packages and deployment',
} as const;
export type Protocol = keyof typeof protocols;

const testCount = z.int().min(0);
const titles = z.array(z.string());
const commit = z.string().regex(/^[0-9a-f]{40}$/);

/** Results of tests, of a judge or of a procedure. */
const lookSchema = z.strictObject({
  verdict: z
    .enum(['passed', 'failed', 'not_run'])
    .describe(
      'passed: some tests passed and none failed, though some may be skipped; not_run: no test came to a result',
    ),
  reason: z.string().nullable().describe('Why the verdict is not_run; else null'),
  date: z.iso.date().nullable().describe('Day of the run; null if not run'),
  commit: commit.nullable().describe('Commit of the run; null if not run'),
  failed_runs: testCount.describe('Runs of the same files before this one that failed'),
  tests: z.strictObject({ passed: testCount, failed: testCount, skipped: testCount }),
  skips: z.array(z.strictObject({ reason: z.string(), tests: testCount })).describe('Reasons of the skipped tests'),
  failures: titles.describe('Titles of the failed tests'),
  suites: z
    .array(z.strictObject({ file: z.string(), title: z.string(), tests: testCount, names: titles }))
    .describe('Suites that looked at the product, with the number of their tests and the names of the first'),
});
export type Look = z.infer<typeof lookSchema>;

const disagreementSchema = z.strictObject({
  test: z.string().describe('Beginning of the title of the test that shows it'),
  why: z.string(),
  right: z.enum(['derbench', 'judge', 'open']).describe('Side that the clause supports'),
  clause: z.string().nullable().describe('null: no clause decides'),
  issue: z.string().nullable().describe('Address or number of the issue; null: none is needed while the test passes'),
});
export type Disagreement = z.infer<typeof disagreementSchema>;

const protocol = z.enum(Object.keys(protocols) as [Protocol, ...Protocol[]]);

const judgeSchema = lookSchema.extend({
  id: z.string(),
  name: z.string(),
  home: z.url(),
  judge_version: z.string().nullable().describe('Version installed at the run; null: not run, or unknown'),
  protocol,
  role: z.string().describe('Part that it plays beside derbench'),
  independent: z.enum(['yes', 'no']),
  shares: z.string().nullable().describe('What it shares with derbench; null for an independent one'),
  known: z.array(disagreementSchema),
});
export type JudgeVerdict = z.infer<typeof judgeSchema>;

const procedureSchema = lookSchema.extend({ id: z.string(), name: z.string(), clauses: z.string() });
export type ProcedureVerdict = z.infer<typeof procedureSchema>;

/** Version of the form of the documents. */
export const evidenceFormat = 1 as const;

export const evidenceSchema = z
  .strictObject({
    format: z.literal(evidenceFormat),
    version: z.string(),
    commit: commit.describe('Commit of the last run'),
    source: z
      .string()
      .describe('Identity of the files of that commit that decide verdicts, for which all verdicts count'),
    api_version: z.string(),
    date: z.iso.datetime(),
    node: z.string(),
    os: z.string(),
    depth: z.string().describe('TEST_DEPTH of the last run'),
    seed: z.string().describe('FC_SEED of the last run'),
    judges: z.array(judgeSchema),
    gaps: z.partialRecord(protocol, titles).describe('What no judge looks at, by protocol'),
    procedures: z.array(procedureSchema).describe("Procedures of standards in the project's own words: no judges"),
  })
  .describe('Results of the tests with independent implementations, for one version of derbench');
export type Evidence = z.infer<typeof evidenceSchema>;

/** @throws Error for a text that is no document of this form */
export function evidenceIn(text: string, name: string): Evidence {
  const json = JSON.parse(text) as { format?: unknown };
  if (json.format !== evidenceFormat)
    throw new Error(`${name} has the format ${JSON.stringify(json.format)}; this version reads ${evidenceFormat}`);
  return evidenceSchema.parse(json);
}
