/** Time zones by their IANA names. */

/** Zone of most simulations; it needs no table of zones, whose first use takes some 20 ms. */
const utc = 'UTC';

/** True if a text is an IANA name that this runtime knows. */
export function isTimeZone(text: string): boolean {
  if (text === utc) return true;
  // newer runtimes also accept offsets such as +01:00, which are not IANA names
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

let cachedFormat: { readonly timezone: string; readonly format: Intl.DateTimeFormat } | undefined;

/** The format of a zone; the last one is kept, since making one takes longer than its use. */
function partsFormat(timezone: string): Intl.DateTimeFormat {
  if (cachedFormat?.timezone !== timezone)
    cachedFormat = {
      timezone,
      format: new Intl.DateTimeFormat('en-US', {
        timeZone: timezone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
    };
  return cachedFormat.format;
}

/**
 * Offset of a time zone from UTC at an instant, in ms.
 * @param dateMs ms since the epoch
 * @throws RangeError for an unknown zone
 */
export function zoneOffsetMs(timezone: string, dateMs: number): number {
  if (timezone === utc) return 0;
  const parts = partsFormat(timezone).formatToParts(dateMs);
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(dateMs / 1000) * 1000;
}
