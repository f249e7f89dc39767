/** Judges one document of a server, or one page of a list: schema, counts and rates. */
import type { Case } from '../../core/findings/rule.ts';
import type { SeenAnswer } from '../transport/exchange.ts';
import type { Departure, DepartureKind, ReceivedDocument } from '../xml/schema.ts';
import { pathOf, short } from './model.ts';
import type { JudgeParts } from './model.ts';

const ruleOf = {
  value: 'schema',
  order: 'element_order',
  missing: 'member_required',
  attribute: 'attribute_as_element',
  namespace: 'namespace',
} as const satisfies Record<DepartureKind, string>;
const kinds = Object.keys(ruleOf) as readonly DepartureKind[];

/** Origin of a document. */
interface Source {
  readonly url: string;
  readonly message: Case['message'];
  readonly deviceIndex: number | null;
}

/** Path of a member without the places of items, so that one mistake in many items is one case. */
const bare = (path: string) => path.replace(/\/\d+(?=\/|$)/g, '');
/** The PIN is a secret, also where it is no number. */
const shown = ({ path, detail }: Departure) => (path.endsWith('/pIN') ? 'does not fit its type' : detail);

export class DocumentJudge {
  readonly #parts: JudgeParts;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /** Judges the document of an answer with status 200. */
  answered(seen: SeenAnswer): void {
    const { request, url, document, unreadable, body, headers, message } = seen;
    const { rules, peer } = this.#parts;
    if (body.length === 0) return;
    const source = { url, message, deviceIndex: request.deviceIndex };
    const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
    if (type === 'application/sep+xml') rules.media_type.exercised(peer);
    else
      rules.media_type.broken(
        peer,
        request.deviceIndex,
        () => ({
          text: `${request.resource} has ${type === '' ? 'no media type' : `the media type ${short(type)}`}`,
          facts: { path: pathOf(url), type },
          message,
        }),
        type,
      );
    const reason = unreadable ?? (document?.name === request.resource ? null : `it is a ${document?.name}`);
    if (reason === null) rules.document_unreadable.exercised(peer);
    else
      rules.document_unreadable.broken(
        peer,
        request.deviceIndex,
        () => ({
          text: `the answer to the request for ${request.resource} is no such document: ${reason}`,
          facts: { path: pathOf(url) },
          message,
        }),
        request.resource,
      );
    if (document === null) return;
    this.document(document, source);
    if (document.name === request.resource) this.#page(document, seen);
  }

  /** Judges any document, also that of a notification. */
  document(document: ReceivedDocument, source: Source): void {
    const { rules, peer } = this.#parts;
    const { name, departures = [] } = document;
    for (const kind of kinds) {
      const rule = rules[ruleOf[kind]];
      const first = departures.find((departure) => departure.kind === kind);
      if (first === undefined) rule.exercised(peer);
      else
        rule.broken(
          peer,
          source.deviceIndex,
          () => ({
            text: `${name}${bare(first.path)} ${short(shown(first))}`,
            facts: {
              document: name,
              path: first.path,
              url: pathOf(source.url),
              departures: departures.filter((departure) => departure.kind === kind).length,
            },
            message: source.message ?? null,
          }),
          `${name}${bare(first.path)}`,
        );
    }
    this.#pollRate(document, source);
    if (document.name === 'Registration') this.#pin(document.value.pIN, source);
  }

  #pollRate({ name, value }: ReceivedDocument, { url, message, deviceIndex }: Source): void {
    const { poll_rate_zero: zero, poll_rate_extreme: extreme } = this.#parts.rules;
    const { peer } = this.#parts;
    const pollRate = 'pollRate' in value ? value.pollRate : undefined;
    if (pollRate === undefined) return;
    const makeCase = () => ({
      text: `the pollRate of ${name} is ${pollRate} s`,
      facts: { path: pathOf(url), pollRate },
      message: message ?? null,
    });
    if (pollRate === 0) {
      zero.broken(peer, deviceIndex, makeCase, name);
      return;
    }
    zero.exercised(peer);
    if (pollRate >= extreme.param('min_s') && pollRate <= extreme.param('max_s')) extreme.exercised(peer);
    else extreme.broken(peer, deviceIndex, makeCase, name);
  }

  #pin(pin: number | undefined, { url, message, deviceIndex }: Source): void {
    const { rules, peer } = this.#parts;
    if (pin === undefined) return;
    const sum = Array.from(String(pin)).reduce((total, digit) => total + Number(digit), 0);
    if (sum % 10 === 0) rules.pin_checksum.exercised(peer);
    else
      rules.pin_checksum.broken(peer, deviceIndex, () => ({
        text: 'the sum of the digits of pIN is no multiple of 10',
        facts: { path: pathOf(url) },
        message: message ?? null,
      }));
  }

  /** Judges the counts of a page, and whether it is the one that was asked for. */
  #page({ name, value, departures = [] }: ReceivedDocument, { request, url, message }: SeenAnswer): void {
    const { rules, peer } = this.#parts;
    const count = itemCount(name, value);
    if (count === null || !('all' in value) || !('results' in value)) return;
    const { all, results } = value;
    // an item in another namespace is not among those that were read
    const item = `/${name.slice(0, -'List'.length)}`;
    const isCounted = departures.every(({ kind, path }) => kind !== 'namespace' || path !== item);
    if (typeof all === 'number' && typeof results === 'number' && isCounted) {
      const facts = { path: pathOf(url), all, results, items: count };
      if (results === count && all >= results) rules.list_counts.exercised(peer);
      else
        rules.list_counts.broken(
          peer,
          request.deviceIndex,
          () => ({
            text: `${name} has ${count} items, results ${results} and all ${all}`,
            facts,
            message,
          }),
          name,
        );
    }
    const asked = Number(new URLSearchParams(request.href.split('?')[1] ?? '').get('l') ?? Number.NaN);
    if (Number.isNaN(asked)) return;
    if (count <= asked) rules.list_paging.exercised(peer);
    else
      rules.list_paging.broken(
        peer,
        request.deviceIndex,
        () => ({
          text: `${name} has ${count} items in a page of at most ${asked}`,
          facts: { path: pathOf(url), l: asked, items: count },
          message,
        }),
        name,
      );
  }
}

/** Number of the items of a list of one type; null: the document is no such list. */
function itemCount(name: string, value: object): number | null {
  if (!name.endsWith('List') || name === 'NotificationList' || name === 'ResponseList') return null;
  const items: unknown = (value as Readonly<Record<string, unknown>>)[name.slice(0, -'List'.length)];
  if (items === undefined) return 0;
  return Array.isArray(items) ? items.length : null;
}
