/** Where slots hold secrets: passwords, private keys and addresses with credentials. An export leaves them out. */
import type { JsonValue } from '../core/store.ts';

/** One kind of slot with secrets. A slot follows every row that it fits. */
interface SecretSlots {
  readonly slots: RegExp;
  /** members, at any depth, that are secrets */
  readonly members?: RegExp;
  /** names of keys and variables: a list with such a name is left out with its value */
  readonly names?: RegExp;
  /** true: queries of addresses are secrets, since they can hold a token */
  readonly queries?: true;
}

const secretSlots: readonly SecretSlots[] = [
  // any slot, also of versions to come
  { slots: /^/, members: /authorization_?key|password|passwd|secret|private_?key|(?:sim|csip)_?pin/i },
  // PINs of devices
  { slots: /^(plant\/shared\/changes|lab\/content)$/, members: /^pin$/ },
  // the certificates that REST has added, those of a station, and the keys that wait for theirs
  { slots: /^certificates\/|^ocpp\/[^/]+\/station\/certificates$/, members: /^key$/ },
  // keys of 1.6 and variables of 2.x
  {
    slots: /^ocpp\/[^/]+\/[^/]+\/(keys|variables|network-variables)$/,
    names: /authorization_?key|basic_?auth_?password/i,
  },
  // files of firmware, and addresses of network profiles
  { slots: /^ocpp\//, queries: true },
];

/** A run of characters that may be an address. */
const word = /[^\s"<>]+/g;

/** Takes credentials, and with `queries` also query and fragment, out of the addresses in a text. */
function plainAddresses(text: string, queries: boolean): string {
  if (!text.includes('://')) return text;
  return text.replace(word, (each) => {
    const start = each.indexOf('://') + 3;
    if (start < 3) return each;
    const query = each.slice(start).search(/[?#]/);
    const end = query < 0 ? each.length : start + query;
    // an at sign after a question mark may belong to a password
    const at = each.lastIndexOf('@', queries ? each.length : end);
    const host = at >= start ? at + 1 : start;
    const rest = each.slice(host);
    const cut = queries ? rest.search(/[?#]/) : -1;
    return each.slice(0, start) + (cut < 0 ? rest : rest.slice(0, cut));
  });
}

/** Takes the secrets out of the values of one slot. */
class Cleaner {
  /** true: something was taken out */
  hasChanged = false;
  readonly #rows: readonly SecretSlots[];
  readonly #queries: boolean;

  constructor(slot: string) {
    this.#rows = secretSlots.filter(({ slots }) => slots.test(slot));
    this.#queries = this.#rows.some(({ queries }) => queries === true);
  }

  #isSecretMember(name: string): boolean {
    return this.#rows.some(({ members }) => members?.test(name) === true);
  }

  #isAboutSecret(value: readonly JsonValue[]): boolean {
    return this.#rows.some(({ names }) => value.some((each) => typeof each === 'string' && names?.test(each) === true));
  }

  #text(text: string): string | undefined {
    const plain = text.includes('PRIVATE KEY') ? undefined : plainAddresses(text, this.#queries);
    this.hasChanged ||= plain !== text;
    return plain;
  }

  /** undefined: the value is left out */
  clean(value: JsonValue): JsonValue | undefined {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const list = value as readonly JsonValue[];
      if (!this.#isAboutSecret(list)) return list.flatMap((each) => this.#element(each));
      this.hasChanged = true;
      return undefined;
    }
    const members = Object.entries(value).flatMap(([name, member]): [string, JsonValue][] => {
      const isSecret = this.#isSecretMember(name) && member !== null;
      const rest = isSecret ? undefined : this.clean(member);
      this.hasChanged ||= isSecret;
      return rest === undefined ? [] : [[name, rest]];
    });
    return Object.fromEntries(members);
  }

  /** The places of the other values of a list stay, since they can mean something. */
  #element(value: JsonValue): readonly JsonValue[] {
    const rest = this.clean(value);
    if (rest !== undefined) return [rest];
    return typeof value === 'string' ? [null] : [];
  }
}

/** The values of a slot without secrets. */
export function withoutSecrets(
  slot: string,
  values: readonly JsonValue[],
): { readonly values: readonly JsonValue[]; readonly hasLeftOut: boolean } {
  const cleaner = new Cleaner(slot);
  const clean = values.flatMap((value) => {
    const rest = cleaner.clean(value);
    return rest === undefined ? [] : [rest];
  });
  return { values: clean, hasLeftOut: cleaner.hasChanged };
}
