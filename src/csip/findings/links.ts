/** Judges the links and redirects of a server. */
import type { DocumentName } from '../xml/schema.ts';
import type { RefusalReason, SeenAnswer, SepRequest } from '../transport/exchange.ts';
import { pathOf, Remembered, short } from './model.ts';
import type { JudgeParts } from './model.ts';

/** Resources that may be absent although a link leads to them. */
const optional: ReadonlySet<DocumentName> = new Set(['DefaultDERControl', 'ConnectionPoint']);
const maxDead = 16;

/** A link that led nowhere. */
interface DeadLink {
  readonly href: string;
  /** path of the document with the link */
  readonly parent: string;
  /** true: the document was read again since, and still had the link */
  isShownAgain: boolean;
}

const quotes = ['"', "'"] as const;
const inXml = (href: string) => href.replaceAll('&', '&amp;');

export class LinkJudge {
  readonly #parts: JudgeParts;
  readonly #isKnown: () => boolean;
  /** by path */
  readonly #dead = new Remembered<DeadLink>(maxDead);

  /** @param isKnown true: the server has shown the EndDevice of the client */
  constructor(parts: JudgeParts, isKnown: () => boolean) {
    this.#parts = parts;
    this.#isKnown = isKnown;
  }

  answered(seen: SeenAnswer): void {
    const { request, redirects, status } = seen;
    const { rules, peer } = this.#parts;
    if (redirects > 0) rules.redirect_endless.exercised(peer);
    if (request.base !== undefined) rules.link_elsewhere.exercised(peer);
    if (request.method !== 'GET') return;
    if (status === 200) this.#read(seen);
    else if (status === 404 || status === 410) this.#missed(seen);
  }

  refused(request: SepRequest, reason: RefusalReason, text: string): void {
    // the address of the DeviceCapability comes from the user
    if (request.base === undefined && request.resource === 'DeviceCapability') return;
    const { rules, peer } = this.#parts;
    const rule = reason === 'elsewhere' ? rules.link_elsewhere : rules.redirect_endless;
    rule.broken(
      peer,
      request.deviceIndex,
      () => ({ text, facts: { resource: request.resource, href: short(request.href) } }),
      request.resource,
    );
  }

  #read({ request, url, body }: SeenAnswer): void {
    const { rules, peer } = this.#parts;
    const path = pathOf(url);
    this.#dead.delete(path);
    if (request.base !== undefined) rules.link_dead.exercised(peer);
    for (const [, link] of this.#dead.entries())
      if (link.parent === path)
        link.isShownAgain = quotes.some((quote) => body.includes(quote + inXml(link.href) + quote));
  }

  #missed({ request, url, status, message }: SeenAnswer): void {
    const { rules, peer } = this.#parts;
    const { base, resource, deviceIndex } = request;
    if (base === undefined || optional.has(resource)) return;
    if (resource === 'EndDeviceList' && !this.#isKnown()) return;
    const path = pathOf(url);
    // the query of a page belongs to the client
    const href = request.href.replace(/[?&]s=\d+&l=\d+$/, '');
    const isSecond = this.#dead.get(path)?.isShownAgain === true;
    this.#dead.set(path, { href, parent: pathOf(base), isShownAgain: false });
    if (!isSecond) return;
    rules.link_dead.broken(
      peer,
      deviceIndex,
      () => ({
        text: `the link to ${resource} leads nowhere: ${status} twice, and the document still has it`,
        facts: { path, parent: pathOf(base), status },
        message,
      }),
      path,
    );
  }
}
