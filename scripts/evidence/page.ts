/** The pages of docs/evidence, made from their documents alone. */
import { protocols } from './document.ts';
import { sourceCommand } from './source.ts';
import type { Disagreement, Evidence, JudgeVerdict, Look, ProcedureVerdict, Protocol } from './document.ts';

const marks = { passed: '✅ passed', failed: '❌ failed', not_run: '⬜ not run' } as const;
const sides = { derbench: 'derbench', judge: 'the judge', open: 'undecided' } as const;
const repository = 'https://github.com/derbench/derbench/blob/main/';
const shownFailures = 20;

/** Text of a cell, in which a bar or a line break would end it. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (...cells: readonly (string | number)[]) => `| ${cells.map((each) => cell(String(each))).join(' | ')} |`;

/** Text between tags, which is no Markdown. */
const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[{}]/g, (each) => `&#${each.charCodeAt(0)};`);

function table(head: readonly string[], rows: readonly string[]): readonly string[] {
  return [row(...head), `|${'---|'.repeat(head.length)}`, ...rows];
}

/** Whether some tests of a judge that ran did not. */
const isPartial = ({ verdict, tests }: Look) => verdict !== 'not_run' && tests.skipped > 0;

/** A verdict in a table: one of some tests alone, or that needed several runs, says so. */
function marked(look: Look): string {
  const { verdict, failed_runs: failed, skips, tests } = look;
  return [
    marks[verdict],
    ...(isPartial(look) ? [`${tests.skipped} not run: ${skips.map(({ reason }) => reason).join('; ')}`] : []),
    ...(failed === 0 ? [] : [`${plural(failed, 'run')} before failed`]),
  ].join(', ');
}

const shortCommit = (commit: string | null) => commit?.slice(0, 10) ?? '-';
const counts = ({ tests }: Look) => [tests.passed, tests.failed, tests.skipped];
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;
const nameOf = ({ name, judge_version: version }: JudgeVerdict) => `${name}${version === null ? '' : ` ${version}`}`;
const nameInSummary = (judge: JudgeVerdict) =>
  `${nameOf(judge)}${isPartial(judge) ? ` (${judge.tests.skipped} not run)` : ''}`;

function judgeRow(judge: JudgeVerdict): string {
  const independent = judge.independent === 'yes' ? 'yes' : `no: ${judge.shares ?? ''}`;
  return row(
    `[${judge.name}](${judge.home})`,
    judge.judge_version ?? (judge.verdict === 'not_run' ? '-' : 'unknown'),
    judge.role,
    independent,
    marked(judge),
    ...counts(judge),
    judge.date ?? '-',
    shortCommit(judge.commit),
  );
}

const judgeHead = [
  'Judge',
  'Version',
  'Role',
  'Independent',
  'Verdict',
  'Passed',
  'Failed',
  'Not run',
  'Day',
  'Commit',
];

/** Suites with the tests in each, which a click unfolds. */
function suiteLines({ suites }: Look): readonly string[] {
  return suites.flatMap(({ file, title, tests, names }) => {
    const more = tests > names.length ? [`and ${tests - names.length} more`] : [];
    const list = [...names, ...more].map((name) => `<li>${escaped(name)}</li>`).join('');
    return [
      `- ${escaped(title)} ([${file.replace(/^.*\//, '')}](${repository}${file}))`,
      `  <details><summary>${plural(tests, 'test')}</summary><ul>${list}</ul></details>`,
    ];
  });
}

/** Failures and skips of a judge or procedure. */
function lackLines({ known, ...look }: Look & { readonly known: readonly Disagreement[] }): readonly string[] {
  const hidden = look.failures.length - shownFailures;
  return [
    ...look.failures.slice(0, shownFailures).map((title) => {
      const issues = known.filter(({ test }) => title.startsWith(test)).flatMap(({ issue }) => issue ?? []);
      return `- ❌ failed: ${escaped(title)} (${issues.length > 0 ? `issue ${issues.join(', ')}` : 'no issue yet'})`;
    }),
    ...(hidden > 0 ? [`- ❌ failed: ${hidden} more`] : []),
    ...look.skips.map(({ reason, tests }) => `- ⬜ ${plural(tests, 'test')} not run: ${escaped(reason)}`),
  ];
}

/** What judges or procedures that ran have looked at, and why the others did not run. */
function lookSections(looks: readonly (Look & { readonly title: string; readonly known: readonly Disagreement[] })[]) {
  const absent = looks.filter(({ verdict }) => verdict === 'not_run');
  return [
    ...looks
      .filter(({ verdict }) => verdict !== 'not_run')
      .flatMap((look) => ['', `**${look.title}**`, '', ...suiteLines(look), ...lackLines(look)]),
    ...(absent.length > 0 ? ['', '**Not run**', ''] : []),
    ...absent.map(({ title, reason }) => `- ⬜ ${title}: ${reason ?? ''}`),
  ];
}

function disagreementTable(judges: readonly JudgeVerdict[]): readonly string[] {
  const rows = judges.flatMap((judge) =>
    judge.known.map(({ why, right, clause, issue }) => row(judge.name, why, sides[right], clause ?? '-', issue ?? '-')),
  );
  if (rows.length === 0) return [];
  return ['', '### Known disagreements', '', ...table(['Judge', 'What differs', 'Right', 'Clause', 'Issue'], rows)];
}

function protocolSection(protocol: Protocol, { judges: all, gaps }: Evidence): readonly string[] {
  const judges = all.filter((judge) => judge.protocol === protocol);
  if (judges.length === 0) return [];
  const missing = gaps[protocol] ?? [];
  return [
    '',
    `## ${protocols[protocol]}`,
    '',
    ...table(judgeHead, judges.map(judgeRow)),
    ...disagreementTable(judges),
    ...(missing.length > 0 ? ['', '### No judge looks at', '', ...missing.map((text) => `- ${text}`)] : []),
    '',
    '### What they looked at',
    ...lookSections(judges.map((judge) => ({ ...judge, title: nameOf(judge) }))),
  ];
}

function procedureSection(procedures: readonly ProcedureVerdict[]): readonly string[] {
  const rows = procedures.map((procedure) =>
    row(
      procedure.name,
      procedure.clauses,
      marked(procedure),
      ...counts(procedure),
      procedure.date ?? '-',
      shortCommit(procedure.commit),
    ),
  );
  return [
    '',
    '## Our own procedures',
    '',
    'These follow procedures of standards in the words of this project. Nobody else has judged the results.',
    '',
    ...table(['Procedure', 'After', 'Verdict', 'Passed', 'Failed', 'Not run', 'Day', 'Commit'], rows),
    ...lookSections(procedures.map((procedure) => ({ ...procedure, title: procedure.name, known: [] }))),
  ];
}

const ofVerdict = (judges: readonly JudgeVerdict[], verdict: Look['verdict']) =>
  judges.filter((judge) => judge.verdict === verdict);

function summaryTable({ judges }: Evidence): readonly string[] {
  const used = (Object.keys(protocols) as Protocol[]).filter((each) =>
    judges.some(({ protocol }) => protocol === each),
  );
  const rows = used.map((protocol) => {
    const mine = judges.filter((judge) => judge.protocol === protocol);
    const names = (verdict: Look['verdict']) => ofVerdict(mine, verdict).map(nameInSummary).join('<br>') || '-';
    return row(protocols[protocol], names('passed'), names('failed'), names('not_run'));
  });
  return table(['Protocol', marks.passed, marks.failed, marks.not_run], rows);
}

/** Home of the documents, which the package leaves out. */
const folder = 'https://github.com/derbench/derbench/blob/main/docs/evidence';

/** Text of docs/evidence/VERSION.md. */
export function pageOf(evidence: Evidence): string {
  const { version, commit, source, api_version: api, date, node, os, depth, seed } = evidence;
  return `${[
    `# Evidence for derbench ${version}`,
    '',
    `Made by \`npm run evidence\` from [${version}.json](${folder}/${version}.json): change neither by hand.`,
    '',
    'Programs, models and schemas of other people take part in the tests of this repository. A verdict is the result of these',
    'tests on one day, at one commit. It is no certificate, and nobody but this project has run the tests.',
    '',
    `- Version: ${version}, HTTP interface ${api}`,
    `- Last run: ${date}, commit \`${commit}\``,
    `- Files: \`${source}\`, printed by \`${sourceCommand}\`. Documents alone may change without another run.`,
    `- Machine: Node.js ${node}, ${os}. All judges were programs on this machine: no hardware and no real network took part.`,
    `- To repeat it: \`npm ci && npm run peers && TEST_DEPTH=${depth} FC_SEED=${seed} npm run evidence\``,
    '',
    'How to read it:',
    '',
    '- ✅ passed: at least one test passed and none failed. Tests that did not run are counted, with their reason.',
    '- ❌ failed: at least one test failed, or did not end.',
    '- ⬜ not run: no test came to a result. It says nothing about derbench.',
    '- A test in which several judges take part counts for each of them, so the numbers cannot be added up.',
    '- A run before of the same files that failed is counted behind the verdict.',
    '- Verdicts of other days count as long as these files are the same.',
    '',
    '## In short',
    '',
    ...summaryTable(evidence),
    ...(Object.keys(protocols) as Protocol[]).flatMap((protocol) => protocolSection(protocol, evidence)),
    ...procedureSection(evidence.procedures),
  ].join('\n')}\n`;
}

/** Text of docs/evidence/index.md. @param all documents, newest first */
export function indexOf(all: readonly Evidence[]): string {
  const rows = all.map(({ version, date, commit, judges }) =>
    row(
      `[${version}](${version}.md)`,
      date.slice(0, 10),
      shortCommit(commit),
      ofVerdict(judges, 'passed').length,
      ofVerdict(judges, 'passed').filter(isPartial).length,
      ofVerdict(judges, 'failed').length,
      ofVerdict(judges, 'not_run').length,
      sum(judges.map(({ known }) => known.length)),
    ),
  );
  return `${[
    '# Evidence',
    '',
    'Which independent programs, models and schemas have judged which version of derbench, with what result. Each page is made by',
    '`npm run evidence` from a document in JSON, to which it links. Its schema is `config/schema/evidence.schema.json`.',
    '',
    ...table(
      ['Version', 'Day', 'Commit', 'Judges passed', 'of these in part', 'Failed', 'Not run', 'Known disagreements'],
      rows,
    ),
  ].join('\n')}\n`;
}
