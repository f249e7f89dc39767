/** A member of a request, or a setting, that was refused. */
export interface Issue {
  /** JSON pointer, parameter or setting */
  readonly name: string;
  readonly detail: string;
  /** part of the request; absent for a setting */
  readonly in?: 'body' | 'query' | 'path';
  readonly allowed?: readonly (string | number)[];
}

/** Members of a `DerbenchError`. */
export interface ErrorFacts {
  readonly code: string;
  readonly detail: string;
  readonly status?: number | null;
  readonly issues?: readonly Issue[];
  readonly cause?: unknown;
}

/** All errors that the client and `createSimulator` throw intentionally. */
export class DerbenchError extends Error {
  override readonly name = 'DerbenchError';
  /** HTTP status of the answer; null: no answer */
  readonly status: number | null;
  /**
   * Code of the problem, such as `validation` or `conflict`; without an answer also `not-reachable`, `timeout`,
   * `unknown-device`, `not-a-number`, `not-a-text`, `config-invalid`, `listen-failed`, `shortage`
   */
  readonly code: string;
  /** description of the error */
  readonly detail: string;
  /** every refused member or setting; empty unless `code` is `validation` or `config-invalid` */
  readonly issues: readonly Issue[];

  constructor({ code, detail, status = null, issues = [], cause }: ErrorFacts) {
    super(detail, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.issues = issues;
  }
}
