/** Rules for links and redirects of a server, and its permanent redirects. */
import { SimError } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';

export interface LinkRules {
  /** scheme, host and port of the server */
  readonly origin: URL;
  /** additional hosts, lower case, without port */
  readonly allowedHosts: readonly string[];
  /** false: the rules of outgoing connections hold, for a target from REST or the network */
  readonly anywhere: boolean;
}

const maxMoved = 1000;
const maxHrefLength = 4096;

const bareHost = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();

export class Links {
  readonly #rules: LinkRules;
  readonly #hosts: ReadonlySet<string>;
  /** targets of 301 and 308, without a query that stays the same */
  readonly #moved = new Map<string, string>();

  constructor(rules: LinkRules) {
    this.#rules = rules;
    this.#hosts = new Set([bareHost(rules.origin), ...rules.allowedHosts]);
  }

  /**
   * Resolves a reference by RFC 3986.
   * @param base URL of the document that contains it; default: the server
   * @throws SimError PEER_ERROR for a link that must not be followed
   */
  resolve(href: string, base: string = this.#rules.origin.href): URL {
    const { origin, anywhere } = this.#rules;
    const refuse = (reason: string) => new SimError('PEER_ERROR', `the server links to ${shown(href)}, ${reason}`);
    if (href.length > maxHrefLength || !URL.canParse(href, base)) throw refuse('which is no URI');
    const url = new URL(href, base);
    url.hash = '';
    if (url.protocol !== origin.protocol) throw refuse(`which is not of the scheme ${origin.protocol.slice(0, -1)}`);
    if (url.username !== '' || url.password !== '') throw refuse('which contains a user name');
    if (!this.#hosts.has(bareHost(url))) throw refuse('a host that is not allowed (csip_allowed_host)');
    if (!anywhere && isRefusedTarget(bareHost(url))) throw refuse(`which ${refusedTargetText}`);
    return url;
  }

  /** Stores a permanent redirect. */
  move(from: URL, to: URL): void {
    const oldest = this.#moved.size >= maxMoved ? this.#moved.keys().next() : null;
    if (oldest?.done === false) this.#moved.delete(oldest.value);
    if (from.search === to.search) this.#moved.set(withoutQuery(from), withoutQuery(to));
    else this.#moved.set(from.href, to.href);
  }

  /** The present URL of a resource. null: not moved. */
  movedTo(url: URL): URL | null {
    const whole = this.#moved.get(url.href);
    if (whole !== undefined) return new URL(whole);
    const path = this.#moved.get(withoutQuery(url));
    if (path === undefined) return null;
    const moved = new URL(path);
    moved.search = url.search;
    return moved;
  }

  /** Forgets the redirect of a resource, for example after a 404. */
  forget(url: URL): void {
    this.#moved.delete(url.href);
    this.#moved.delete(withoutQuery(url));
  }
}

function withoutQuery(url: URL): string {
  return url.origin + url.pathname;
}

const shownLength = 200;

/** A text of the server, shortened for messages. */
function shown(href: string): string {
  return href.length > shownLength ? `${href.slice(0, shownLength)}…` : href;
}
