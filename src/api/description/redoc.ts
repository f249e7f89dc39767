/** The only image that the bundle would fetch from a foreign host. */
const outsideImage = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/**
 * The bundle without outside requests.
 * @throws Error when the bundle does not contain the expected address
 */
export function offlineRedoc(bundle: string): string {
  if (!bundle.includes(outsideImage)) throw new Error('the redoc bundle has changed: check it for outside requests');
  return bundle.replaceAll(outsideImage, 'data:,');
}
