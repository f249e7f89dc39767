/** Documents of IEEE 2030.5 as values: names and members are those of the schema. */
import type { Issue } from '../../core/errors.ts';
import type { Documents } from './documents.ts';

/** Revision of the standard that a server speaks. */
export const revisions = ['2018', '2023'] as const;
export type Revision = (typeof revisions)[number];

/** A received document: any member may be missing. */
export type Received<T> = T extends readonly (infer Item)[]
  ? readonly Received<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]?: Received<T[Name]> | undefined }
    : T;

export type DocumentName = keyof Documents;

/** A document to send; complete, so that its schema accepts it. */
export type OutgoingDocument = {
  [Name in DocumentName]: { readonly name: Name; readonly value: Documents[Name] };
}[DocumentName];

/** A document that has come from a peer. */
export type ReceivedDocument = {
  [Name in DocumentName]: { readonly name: Name; readonly value: Received<Documents[Name]> };
}[DocumentName] & {
  /** Parts that did not fit the schema, by JSON pointer into `value`; absent: none. Missing members are not noted. */
  readonly notes?: readonly Issue[];
};
