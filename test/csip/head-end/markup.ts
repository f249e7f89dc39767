/** XML of a head-end, written by hand: nothing of the client's codec takes part. */

export const sepNamespace = 'urn:ieee:std:2030.5:ns';
export const csipAusNamespace = 'https://csipaus.org/ns';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
/** undefined: the element is left out */
export type Child = string | undefined;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign);

const attributeText = (attributes: Attributes): string =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');

/** An element with elements in it, in the order given. */
export function element(name: string, attributes: Attributes, children: readonly Child[] = []): string {
  const inner = children.join('');
  const start = `<${name}${attributeText(attributes)}`;
  return inner === '' ? `${start}/>` : `${start}>${inner}</${name}>`;
}

/** An element with a text in it; undefined without one. */
export function leaf(name: string, value: string | number | boolean | undefined): Child {
  return value === undefined ? undefined : `<${name}>${escaped(String(value))}</${name}>`;
}

export const link = (name: string, href: string | undefined, all?: number): Child =>
  href === undefined ? undefined : element(name, { href, all });

/** A whole document: the root element gets the namespaces. */
export function documentOf(root: string): string {
  const end = root.search(/[\s/>]/);
  const namespaces = ` xmlns="${sepNamespace}" xmlns:csipaus="${csipAusNamespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.slice(0, end)}${namespaces}${root.slice(end)}`;
}

/** The same document with a prefix on every element of IEEE 2030.5. */
export function withPrefix(xml: string, prefix: string): string {
  return xml
    .replace(/<(\/?)([A-Za-z][A-Za-z0-9]*)(?=[\s/>])/g, `<$1${prefix}:$2`)
    .replace(` xmlns="${sepNamespace}"`, ` xmlns:${prefix}="${sepNamespace}"`);
}

/** Lower-case mRIDs and LFDIs, as some servers send them. */
export function withLowerHex(xml: string): string {
  return xml.replace(/<(mRID|lFDI|deviceLFDI|subject)>([0-9A-F]+)</g, (_, name: string, hex: string) => {
    return `<${name}>${hex.toLowerCase()}<`;
  });
}

/** Hints of ListLinks that are wrong, as some servers send them. */
export const withZeroHints = (xml: string): string => xml.replace(/(ListLink[^>]*) all="\d+"/g, '$1 all="0"');
