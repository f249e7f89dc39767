/** A reservation as every version keeps it. */

export interface Reservation {
  readonly reservationId: number;
  /** 0: any connector of the station */
  readonly connectorId: number;
  /** of connectors that may serve it, in the words of its version; absent: all connectors may */
  readonly connectorType?: string;
  /** the text of its token, as the device gets it */
  readonly idToken: string;
  /** identifies that token */
  readonly tokenKey: string;
  /** identifies the group whose tokens may use it too; null: none */
  readonly groupKey: string | null;
  readonly madeMs: number;
  readonly expiresMs: number;
}

/** A token that is presented, by the keys of its version. */
export interface Bearer {
  readonly idToken: string;
  readonly tokenKey: string;
  /** null: none, or unknown */
  readonly groupKey: string | null;
}

/** Whether a token may use a reservation: it is that of the reservation, or of its group. */
export function holds({ tokenKey, groupKey }: Reservation, bearer: Omit<Bearer, 'idToken'>): boolean {
  return tokenKey === bearer.tokenKey || (groupKey !== null && groupKey === bearer.groupKey);
}
