/**
 * Reads and writes documents of IEEE 2030.5 by the tables of the schema. Reading is lenient, since servers in the field
 * differ; writing gives what the schema of the chosen revision accepts, or fails.
 */
import type { OutgoingDocument, ReceivedDocument } from './document.ts';
import { DocumentReader } from './read.ts';
import { parseTree, xmlLimits } from './tree.ts';
import type { XmlLimits } from './tree.ts';
import { DocumentWriter } from './write.ts';
import type { BuildOptions } from './write.ts';

export type { XmlLimits } from './tree.ts';
export type { BuildOptions } from './write.ts';

/**
 * Parses a body.
 * Members may come in any order, and any may be missing. Unknown elements, attributes and namespaces are skipped, and
 * so are members with `disabled="true"` (IEEE 2030.5-2023). A member whose text does not fit its type is left out with
 * a note.
 * @throws SimError PEER_ERROR: not well-formed, beyond the limits, a declaration (`<!DOCTYPE`), or an unknown document;
 *   SHORTAGE
 */
export function parseDocument(octets: Uint8Array, limits: XmlLimits = xmlLimits): ReceivedDocument {
  return new DocumentReader().read(parseTree(octets, limits));
}

/**
 * The body of a document, with an XML declaration. Characters that XML does not allow are left out of texts.
 * @throws SimError INTERNAL with the path of the member: a value outside its type, a missing required member, a member
 *   that the revision or version does not have
 */
export function buildDocument(document: OutgoingDocument, options: BuildOptions): string {
  return new DocumentWriter(options).write(document);
}
