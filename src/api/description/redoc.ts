/** The one image that the bundle would fetch from outside. */
const outsideImage = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

/**
 * The bundle without outside requests.
 * @throws Error when the bundle is not the one this was written for
 */
export function offlineRedoc(bundle: string): string {
  if (!bundle.includes(outsideImage)) throw new Error('the redoc bundle has changed: check it for outside requests');
  return bundle.replaceAll(outsideImage, 'data:,');
}
