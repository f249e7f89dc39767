/** Reasons why a release may not rest on the evidence. */
import { indexOf, pageOf } from './page.ts';
import { outsideRun } from './verdicts.ts';
import type { Evidence, JudgeVerdict } from './document.ts';

/** Texts of docs/evidence; null where a file is missing. */
export interface Pages {
  readonly page: string | null;
  readonly index: string | null;
}

/** Words that only an alliance or a laboratory may use. Titles of others stand in quotation marks. */
const claim = /\b(?:certified|compliant|conformant)\b/gi;

export function claimsIn(text: string): readonly string[] {
  return text.replaceAll(/"[^"\n]*"|“[^”\n]*”/g, '').match(claim) ?? [];
}

function judgeRefusals(judge: JudgeVerdict, before: JudgeVerdict | undefined): readonly string[] {
  const { id, failures, known, verdict, reason, judge_version: version } = judge;
  const unexplained = failures.filter(
    (title) => !known.some(({ test, issue }) => title.startsWith(test) && issue !== null),
  );
  return [
    ...unexplained.map((title) => `${id} failed without a known disagreement that has an issue: ${title}`),
    ...(verdict === 'not_run' && before !== undefined && before.verdict !== 'not_run'
      ? [`${id} ran for the version before and did not run now: ${reason ?? ''}`]
      : []),
    ...(reason === outsideRun ? [`${id} has not been asked: npm run evidence -- --only ${id}`] : []),
    ...(verdict !== 'not_run' && version === null ? [`${id} ran, but its version is unknown`] : []),
  ];
}

/** What is to be released. */
export interface Candidate {
  /** null: the version of the newest document */
  readonly version: string | null;
  /** identity of the files that decide verdicts; null while some differ from their commit */
  readonly source: string | null;
}

/** @param all documents, newest first */
export function refusals(all: readonly Evidence[], candidate: Candidate, pages: Pages): readonly string[] {
  const [newest, before] = all;
  if (newest === undefined) return ['there is no evidence: npm run evidence'];
  if (candidate.version !== null && newest.version !== candidate.version)
    return [`the newest evidence is for ${newest.version}: npm run evidence -- --release ${candidate.version}`];
  const { version, judges, procedures } = newest;
  const missing = before?.judges.filter(
    ({ id, verdict }) => verdict !== 'not_run' && !judges.some((each) => each.id === id),
  );
  return [
    ...(newest.source === candidate.source ? [] : [`the evidence for ${version} is of other files: npm run evidence`]),
    ...judges.flatMap((judge) =>
      judgeRefusals(
        judge,
        before?.judges.find(({ id }) => id === judge.id),
      ),
    ),
    ...procedures.filter(({ reason }) => reason === outsideRun).map(({ id }) => `${id} has not been run`),
    ...procedures.filter(({ verdict }) => verdict === 'failed').map(({ id }) => `${id} failed`),
    ...(missing ?? []).map(({ id }) => `${id} ran for the version before and is no judge now`),
    ...(pages.page === pageOf(newest) ? [] : [`docs/evidence/${version}.md is not made from ${version}.json`]),
    ...(pages.index === indexOf(all) ? [] : ['docs/evidence/index.md is not made from the documents']),
    ...claimsIn(`${pages.page ?? ''}${pages.index ?? ''}`).map((word) => `the pages say "${word}"`),
  ];
}
