/** Customers and what a station keeps about them (N09, N10). */
import type { Requests } from '../parts.ts';

/** A token as records have it; the type is absent where a record does not keep it. */
export interface RecordedToken {
  readonly idToken: string;
  readonly type?: string;
}

/** Whether a token is that of a customer; case does not count. */
export type IsCustomer = (token: RecordedToken) => boolean;

/** One place in which a station keeps something about customers. */
export interface CustomerRecords {
  /** What it keeps about a customer, one fact a line; empty: nothing. */
  about(isCustomer: IsCustomer): readonly string[];
  /**
   * Forgets a customer; absent: it keeps what it has, since a running transaction, a reservation or the local list of the
   * central system needs it.
   * @returns what it has forgotten, one fact a line; empty: nothing
   */
  clear?(isCustomer: IsCustomer): readonly string[];
}

type Request = Pick<Requests['CustomerInformation'], 'idToken' | 'customerIdentifier' | 'customerCertificate'>;

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/**
 * The customer of a request; null: it names none, or more than one. The station knows customers by their tokens: an
 * identifier is the text of one, of whatever type, and a certificate is that of nobody.
 */
export function customerOf({ idToken, customerIdentifier, customerCertificate }: Request): IsCustomer | null {
  const named = [idToken, customerIdentifier, customerCertificate].filter((each) => each !== undefined);
  if (named.length !== 1) return null;
  if (idToken !== undefined)
    return (token) =>
      same(token.idToken, idToken.idToken) && (token.type === undefined || same(token.type, idToken.type));
  if (customerIdentifier !== undefined) return (token) => same(token.idToken, customerIdentifier);
  return () => false;
}

/** Longest `data` of a NotifyCustomerInformation, in characters. */
export const maxDataLength = 512;

/** A text in parts that a message can carry; at least one. */
export function partsOf(text: string): readonly string[] {
  const characters = Array.from(text);
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < characters.length; at += maxDataLength)
    parts.push(characters.slice(at, at + maxDataLength).join(''));
  return parts;
}
