/** Errors of the central system of a station: two verdicts, against the schema and against the rules. */
import type { OcppFinding, OcppFindingKind } from '../../contract/ocpp.ts';

/** Findings of a station that are kept. */
const keptFindings = 200;

const maxTextLength = 500;
/** Longest action and message id that is repeated: they are the peer's words. */
const maxNameLength = 64;

type NewFinding = Omit<OcppFinding, 'id' | 'atMs'>;

interface Findings {
  /** newest first */
  readonly list: readonly OcppFinding[];
  /** all since the start, also those that are no longer kept */
  readonly counts: Readonly<Record<OcppFindingKind, number>>;
  add(finding: NewFinding): void;
  /** Empties the list; the counts stay, and ids go on. */
  clear(): void;
}

const cut = (text: string, length: number) => (text.length <= length ? text : `${text.slice(0, length)}...`);
const cutName = (name: string | null) => (name === null ? null : cut(name, maxNameLength));

/** @param nowMs ms since the epoch */
export function createFindings(nowMs: () => number, kept = keptFindings): Findings {
  let newestFirst: OcppFinding[] = [];
  let lastId = 0;
  const counts = { schema: 0, rule: 0 };
  return {
    get list() {
      return [...newestFirst];
    },
    get counts() {
      return { ...counts };
    },
    add({ kind, action, messageId, clause, text }) {
      lastId += 1;
      counts[kind] += 1;
      newestFirst.unshift({
        id: lastId,
        atMs: nowMs(),
        kind,
        action: cutName(action),
        messageId: cutName(messageId),
        clause,
        text: cut(text, maxTextLength),
      });
      if (newestFirst.length > kept) newestFirst.length = kept;
    },
    clear() {
      newestFirst = [];
    },
  };
}
