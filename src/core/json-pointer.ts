/** One step of a JSON pointer (RFC 6901), with its slash. */
export function pointerStep(step: PropertyKey): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
