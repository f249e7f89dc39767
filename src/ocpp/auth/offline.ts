/** What decides about a token that the central system has not answered. */

export interface OfflineRules {
  /** LocalAuthorizeOffline */
  readonly known: boolean;
  /** 1.6: AllowOfflineTxForUnknownId; 2.x: OfflineTxForUnknownIdEnabled */
  readonly unknown: boolean;
}

/**
 * Status of a token without an answer: a known one counts as it is known, an accepted one only where the rules permit; a
 * token that neither list nor cache holds is refused unless the rules permit unknown ones.
 * @param known of local list or cache; null: neither holds it
 * @param refused what a token is where the rules decide against it
 */
export function offlineStatus<Status extends string>(
  known: Status | 'Accepted' | null,
  rules: OfflineRules,
  refused: Status,
): Status | 'Accepted' {
  if (known === null) return rules.unknown ? 'Accepted' : refused;
  if (known !== 'Accepted') return known;
  return rules.known ? 'Accepted' : refused;
}
