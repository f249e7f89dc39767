/** Reads single documents, and lists with all their pages. */
import { errorText, SimError } from '../../core/errors.ts';
import type { SepAnswer, SepExchange } from '../transport/exchange.ts';
import { isPassing } from '../transport/exchange.ts';
import type { DocumentName, Received, ReceivedDocument } from '../xml/schema.ts';
import type { Documents, Response } from '../xml/documents.ts';
import type { Holding } from './bounds.ts';
import { firstRemarks, remarksOf, remarksOfMissed } from './remarks.ts';
import type { Missed, Remark } from './remarks.ts';

/** A link: its `href`, and the URI of the document that contains it. */
export interface LinkTo {
  readonly href: string;
  readonly base?: string;
}

/** A resource that was read. */
export interface Found<T> {
  readonly kind: 'found';
  readonly value: T;
  /** after redirects; links inside are relative to it */
  readonly url: string;
  readonly middleMonotonicMs: number;
  /** parts that do not fit the schema */
  readonly remarks: readonly Remark[];
}

export type Reading<T> = Found<T> | Missed;

/** Each kind of list with its items. */
export interface ListItems {
  readonly EndDeviceList: 'EndDevice';
  readonly FunctionSetAssignmentsList: 'FunctionSetAssignments';
  readonly DERList: 'DER';
  readonly DERProgramList: 'DERProgram';
  readonly DERControlList: 'DERControl';
  readonly DERCurveList: 'DERCurve';
  readonly ResponseList: 'Response';
}
export type ListName = keyof ListItems;
/** Response is no document of its own for a client. */
type ItemTypes = Documents & { readonly Response: Response };
export type Item<List extends ListName> = Received<ItemTypes[ListItems[List]]>;

/** All pages of a list. */
export interface WholeList<List extends ListName> {
  readonly list: Received<Documents[List]>;
  readonly items: readonly Item<List>[];
  /** false: it has items that were not read, or changed while it was read */
  readonly isWhole: boolean;
}

const itemNames: ListItems = {
  EndDeviceList: 'EndDevice',
  FunctionSetAssignmentsList: 'FunctionSetAssignments',
  DERList: 'DER',
  DERProgramList: 'DERProgram',
  DERControlList: 'DERControl',
  DERCurveList: 'DERCurve',
  ResponseList: 'Response',
};

/** Bounds of one reading of a list. */
export interface ListLimits {
  /** items requested per page (`l`) */
  readonly pageSize: number;
  readonly maxPages: number;
  readonly maxItems: number;
  /** how often reading may start over because `all` has changed meanwhile */
  readonly maxRestarts: number;
}

const defaultListLimits: ListLimits = { pageSize: 100, maxPages: 100, maxItems: 10_000, maxRestarts: 3 };

type ReadTarget = Pick<Missed, 'url' | 'isList'>;

function missed({ status, retryAfterMs }: SepAnswer, resource: DocumentName, target: ReadTarget): Missed {
  const kind = status === 404 || status === 410 ? 'absent' : isPassing(status) ? 'failed' : 'refused';
  const reason = `the server answers ${status} to the request for ${resource}`;
  return { kind, status, reason, closed: false, retryAfterMs, ...target };
}

/** The result for a resource for which there is no room. */
function tooMany(resource: DocumentName, target: ReadTarget): Missed {
  const reason = `the ${resource} is left out: the resources of the server are more than a client holds`;
  return { kind: 'refused', status: null, reason, closed: false, ...target };
}

function isNamed<Name extends DocumentName>(
  document: ReceivedDocument,
  name: Name,
): document is ReceivedDocument & { readonly name: Name; readonly value: Received<Documents[Name]> } {
  return document.name === name;
}

/** A list as it was read, for judges. */
export interface SeenList {
  readonly name: ListName;
  /** after redirects, with the query of its first page */
  readonly url: string;
  readonly items: readonly Item<ListName>[];
  /** false: it has several pages, between which it may have changed */
  readonly isOnePage: boolean;
  /** as in `WholeList` */
  readonly isWhole: boolean;
  readonly deviceIndex: number | null;
}

/** Sees lists and their pages, to judge the server. It must not throw. */
export interface ListWitness {
  list(seen: SeenList): void;
  /** A page behind the first one begins with the first item again. */
  pageRepeated(name: ListName, url: string, deviceIndex: number | null): void;
}

export class Reader {
  readonly #exchange: SepExchange;
  readonly #limits: ListLimits;
  readonly #witness: ListWitness | undefined;

  constructor(exchange: SepExchange, limits: Partial<ListLimits> = {}, witness?: ListWitness) {
    this.#exchange = exchange;
    this.#limits = { ...defaultListLimits, ...limits };
    this.#witness = witness;
  }

  /** Reads one document. @param deviceIndex the device it is about; null: none, or several */
  async document<Name extends DocumentName>(
    name: Name,
    { href, base }: LinkTo,
    deviceIndex: number | null,
    holding?: Holding,
  ): Promise<Reading<Received<Documents[Name]>>> {
    const target: ReadTarget = {
      url: resolved(href, base ?? this.#exchange.origin) ?? href,
      isList: name in itemNames,
    };
    if (holding?.room === 0) return tooMany(name, target);
    try {
      const answer = await this.#exchange.request({
        method: 'GET',
        href,
        ...(base !== undefined && { base }),
        resource: name,
        deviceIndex,
      });
      const { status, document, url, middleMonotonicMs, octets = 0 } = answer;
      if (status >= 400) return missed(answer, name, target);
      if (document === null || !isNamed(document, name)) {
        const content = document === null ? 'no document' : `a document ${document.name}`;
        const reason = `the answer to the request for ${name} has ${content}`;
        return { kind: 'refused', status, reason, closed: false, ...target };
      }
      // concurrent requests may have used up the room
      if (holding?.room === 0) return tooMany(name, target);
      holding?.add(target.isList ? 0 : 1, octets);
      const remarks = remarksOf(name, url, document.notes);
      return { kind: 'found', value: document.value, url, middleMonotonicMs, remarks };
    } catch (error) {
      const closed = error instanceof SimError && error.code === 'NOT_CONNECTED';
      return { kind: 'failed', status: null, reason: errorText(error), closed, ...target };
    }
  }

  /**
   * Reads all pages of a list (`s`, `l`). The order of a list may change between two requests, so reading starts over
   * when `all` changes meanwhile. `all` of the list counts, not that of its link, which servers get wrong.
   */
  async list<List extends ListName>(
    name: List,
    link: LinkTo,
    deviceIndex: number | null,
    holding?: Holding,
  ): Promise<Reading<WholeList<List>>> {
    for (let restarts = 0; ; restarts++) {
      const mayRestart = restarts < this.#limits.maxRestarts;
      const pages = await this.#pages(name, link, { deviceIndex, holding, mayRestart });
      if (pages !== 'changed') return pages;
    }
  }

  async #pages<List extends ListName>(
    name: List,
    { href, base }: LinkTo,
    {
      deviceIndex,
      holding,
      mayRestart,
    }: { readonly deviceIndex: number | null; readonly holding: Holding | undefined; readonly mayRestart: boolean },
  ): Promise<Reading<WholeList<List>> | 'changed'> {
    const { pageSize, maxPages, maxItems } = this.#limits;
    const items: Item<List>[] = [];
    const remarks: Remark[] = [];
    let first: Found<Received<Documents[List]>> | undefined;
    for (let pages = 0; pages < maxPages; pages++) {
      const query = `${href.includes('?') ? '&' : '?'}s=${items.length}&l=${pageSize}`;
      const page: LinkTo = { href: href + query, ...(base !== undefined && { base }) };
      const read = await this.document(name, page, deviceIndex, holding);
      if (read.kind !== 'found') {
        if (first === undefined || holding?.room !== 0) return read;
        // the pages so far have used up the room
        remarks.push(...remarksOfMissed(read));
        break;
      }
      remarks.push(...read.remarks);
      const pageItems = takeRoom(itemsOf(name, read.value), holding);
      if (pageItems.length < itemsOf(name, read.value).length)
        remarks.push(...remarksOfMissed(tooMany(name, { url: read.url, isList: true })));
      const all = read.value.all ?? pageItems.length;
      if (mayRestart && first !== undefined && (first.value.all ?? all) !== all) {
        holding?.add(-items.length - pageItems.length, 0);
        return 'changed';
      }
      first ??= read;
      // a server without paging returns its first page again
      if (beginAlike(items, pageItems)) {
        this.#witness?.pageRepeated(name, read.url, deviceIndex);
        break;
      }
      items.push(...pageItems);
      if (pageItems.length === 0 || items.length >= all || items.length >= maxItems) break;
    }
    if (first === undefined) throw new SimError('INTERNAL', 'a list needs at least one page');
    return this.#whole(name, { ...first, remarks: firstRemarks(remarks) }, items, { mayRestart, deviceIndex });
  }

  #whole<List extends ListName>(
    name: List,
    first: Found<Received<Documents[List]>>,
    items: readonly Item<List>[],
    { mayRestart, deviceIndex }: { readonly mayRestart: boolean; readonly deviceIndex: number | null },
  ): Found<WholeList<List>> {
    const { value: list, url } = first;
    const { maxItems } = this.#limits;
    // the last reading goes on although the list changes
    const isWhole = mayRestart && items.length >= (list.all ?? 0) && items.length <= maxItems;
    const isOnePage = items.length === itemsOf(name, list).length;
    this.#witness?.list({ name, url, items, isWhole, isOnePage, deviceIndex });
    return { ...first, value: { list, items: items.slice(0, maxItems), isWhole } };
  }
}

/** Takes room for items. @returns the items that have room */
function takeRoom<T>(items: readonly T[], holding: Holding | undefined): readonly T[] {
  const held = items.slice(0, holding?.room);
  holding?.add(held.length, 0);
  return held;
}

function itemsOf<List extends ListName>(name: List, list: Received<Documents[List]>): readonly Item<List>[] {
  const members: Readonly<Record<string, unknown>> = list;
  return (members[itemNames[name]] ?? []) as readonly Item<List>[];
}

/** True if both begin with one item. */
const beginAlike = (items: readonly HasHref[], others: readonly HasHref[]): boolean =>
  hrefOf(items[0]) !== undefined && hrefOf(items[0]) === hrefOf(others[0]);

interface HasHref {
  readonly href?: string | undefined;
}

function hrefOf(item: HasHref | undefined): string | undefined {
  return item?.href;
}

/** An `href` as an absolute URI. null: invalid. */
export function resolved(href: string, base: string): string | null {
  return URL.canParse(href, base) ? new URL(href, base).href : null;
}
