/** Locations of files as a central system gives them. */
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import { TransferError } from './model.ts';

const maxLength = 4096;

const bareHost = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');

/** A location for logs: without user, password, query and fragment, which may all hold secrets. */
export function shownLocation(location: string): string {
  if (!URL.canParse(location)) return 'a location that is no URL';
  const { protocol, host, pathname } = new URL(location);
  return host === '' ? `a location of ${protocol}` : `${protocol}//${host}${pathname}`;
}

/**
 * @param schemes permitted ones, as `http:`
 * @param base of a redirect
 * @throws TransferError bad_location, unsupported
 */
export function parsedLocation(location: string, schemes: readonly string[], base?: URL): URL {
  if (location.length > maxLength || !URL.canParse(location, base?.href))
    throw new TransferError('bad_location', 'the location is no URL');
  const url = new URL(location, base?.href);
  if (!schemes.includes(url.protocol))
    throw new TransferError('unsupported', `transfers over ${url.protocol} are not supported`);
  if (isRefusedTarget(bareHost(url))) throw new TransferError('bad_location', `${bareHost(url)} ${refusedTargetText}`);
  return url;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** User and password of a URL; null: it has none. */
export function credentialsOf({
  username,
  password,
}: URL): { readonly user: string; readonly password: string } | null {
  return username === '' && password === '' ? null : { user: decoded(username), password: decoded(password) };
}

/** The last part of the path, decoded. */
export function fileNameOf(url: URL): string {
  return decoded(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
}

/** Where a file of this name goes. */
export function uploadUrl(location: URL, name: string): URL {
  const last = fileNameOf(location);
  if (last.includes('.')) return location;
  const url = new URL(location);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${encodeURIComponent(name)}`;
  return url;
}
