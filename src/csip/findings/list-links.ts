/** Judges the counts in links to lists, by which devices skip empty lists. */
import type { SeenAnswer } from '../transport/exchange.ts';
import type { ReceivedDocument } from '../xml/schema.ts';
import { pathOf, Remembered } from './model.ts';
import type { JudgeParts } from './model.ts';

/** Lists of one server whose links are compared. */
const maxLinks = 64;
/** Time between the readings of a link and of its list after which the list may have changed, ms. */
const nearMs = 5000;

interface CountedLink {
  /** of the link */
  readonly all: number;
  /** reading of the link, on `WallClock.monotonicMs`; null: the list was read since */
  readonly atMs: number | null;
  /** `all` of the list when it differed last; null: it did not */
  readonly missed: number | null;
}

/** Links to lists with a count, in a document or in the items of a list. */
function linksIn({ name, value }: ReceivedDocument): readonly { readonly href: string; readonly all: number }[] {
  const members: Readonly<Record<string, unknown>> = { ...value };
  const items = name.endsWith('List') ? members[name.slice(0, -'List'.length)] : [members];
  return (Array.isArray(items) ? items : []).flatMap((item: object) =>
    Object.entries(item).flatMap(([member, link]: [string, unknown]) => {
      if (!member.endsWith('ListLink') || typeof link !== 'object' || link === null) return [];
      const { href, all } = link as { readonly href?: unknown; readonly all?: unknown };
      return typeof href === 'string' && typeof all === 'number' ? [{ href, all }] : [];
    }),
  );
}

export class ListLinkJudge {
  readonly #parts: JudgeParts;
  /** by path of the list */
  readonly #links = new Remembered<CountedLink>(maxLinks);

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  answered(seen: SeenAnswer): void {
    const { document, url, request } = seen;
    if (document === null) return;
    const nowMs = this.#parts.clock.monotonicMs();
    const isFirstPage = !/[?&]s=[1-9]/.test(request.href);
    if ('all' in document.value && isFirstPage) this.#compare(document.value.all, seen, nowMs);
    for (const { href, all } of linksIn(document)) {
      if (!URL.canParse(href, url)) continue;
      const path = pathOf(new URL(href, url).href);
      const before = this.#links.get(path);
      this.#links.set(path, { all, atMs: nowMs, missed: before?.all === all ? before.missed : null });
    }
  }

  #compare(all: number | undefined, { url, request, message }: SeenAnswer, nowMs: number): void {
    const { rules, peer } = this.#parts;
    const path = pathOf(url);
    const link = this.#links.get(path);
    if (all === undefined || link === undefined || link.atMs === null || nowMs - link.atMs > nearMs) return;
    const missed = link.all === all ? null : all;
    this.#links.set(path, { ...link, atMs: null, missed });
    if (missed === null) rules.list_link_all.exercised(peer);
    // the first time, the list may have changed in between
    else if (missed === link.missed)
      rules.list_link_all.broken(
        peer,
        request.deviceIndex,
        () => ({
          text: `a link to ${request.resource} has all ${link.all}, and the list ${all}`,
          facts: { path, link: link.all, all },
          message,
        }),
        path,
      );
  }
}
