/** Errors of requests as exit codes and texts. */
import { exitCodes } from '../core/exit-codes.ts';
import type { DerbenchError, Issue } from '../library/error.ts';

/** The simulator at the address is not one that the command may change. */
export class OtherInstance extends Error {}

/** True for answers that come from some other server. */
const isForeign = ({ code, status }: DerbenchError) => code === 'unknown' && status !== null;

export function codeOf(error: DerbenchError): number {
  if (error.code === 'not-reachable' || isForeign(error)) return exitCodes.unreachable;
  if (error.code === 'timeout') return exitCodes.failed;
  return error.status === null && error.code === 'validation' ? exitCodes.usage : exitCodes.refused;
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The values that an issue allows, unless its text has them. */
function allowedText({ detail, allowed }: Issue): string {
  const values = allowed?.join(', ');
  return values === undefined || detail.includes(values) ? '' : `; allowed: ${values}`;
}

/** Lines for standard error. @param url address that was asked */
export function linesOf(error: DerbenchError, url: string): readonly string[] {
  const { code, detail, status, issues } = error;
  if (code === 'not-reachable')
    return [
      `no simulator answers. ${sentence(detail)} ` +
        'Start one with "derbench", or give its address with --url or DERBENCH_URL.',
    ];
  if (isForeign(error))
    return [
      `no simulator answers at ${url}. Another server does, with the HTTP status ${String(status)}. ` +
        'Give another address with --url or DERBENCH_URL.',
    ];
  if (status === null) return [sentence(detail)];
  const [only, ...more] = issues;
  const isTold = more.length === 0 && only !== undefined && detail === `${only.name}: ${only.detail}`;
  return [
    `the simulator refused (${code}, ${status}): ${sentence(`${detail}${isTold ? allowedText(only) : ''}`)}`,
    ...(isTold ? [] : issues.map((issue) => `  ${issue.name}: ${issue.detail}${allowedText(issue)}`)),
  ];
}

/** The problem as a document, for `--json`. */
export const documentOf = ({ code, detail, status, issues }: DerbenchError) => ({
  code,
  detail,
  status,
  errors: issues,
});
