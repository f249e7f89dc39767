/** What a head-end does in place of its proper answer, by method and path. */

export type Trick =
  /** another answer, as long as `while` says; without a body an empty one */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
      readonly while?: () => boolean;
    }
  | { readonly kind: 'redirect'; readonly status: 301 | 302 | 303 | 307 | 308; readonly to: string }
  /** the proper answer, once this has come */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** the proper answer, cut after so many octets of its body; the request has had its effect */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** the connection is reset before the request has an effect */
  | { readonly kind: 'reset' }
  /** the proper answer in HTTP/1.0, ended by closing the connection */
  | { readonly kind: 'http10' }
  /** the proper answer with another body */
  | { readonly kind: 'rewrite'; readonly change: (xml: string) => string };

interface Rule {
  readonly method: string;
  readonly path: string | RegExp;
  readonly trick: Trick;
  left: number;
}

const holds = ({ trick }: Rule): boolean => trick.kind !== 'answer' || (trick.while?.() ?? true);

export const pathMatches = (wanted: string | RegExp, path: string): boolean =>
  typeof wanted === 'string' ? wanted === path : wanted.test(path);

export class Tricks {
  readonly #rules: Rule[] = [];

  /**
   * @param method `*`: any
   * @param times requests that it concerns
   * @returns ends it
   */
  add(method: string, path: string | RegExp, trick: Trick, times = Infinity): () => void {
    const rule = { method, path, trick, left: times };
    this.#rules.push(rule);
    return () => {
      rule.left = 0;
    };
  }

  /** The trick that this request meets; the latest one wins. */
  take(method: string, path: string): Trick | undefined {
    const rule = this.#rules.findLast(
      (known) =>
        known.left > 0 &&
        holds(known) &&
        (known.method === '*' || known.method === method) &&
        pathMatches(known.path, path),
    );
    if (rule === undefined) return undefined;
    rule.left -= 1;
    return rule.trick;
  }
}
