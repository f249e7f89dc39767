/** Schemas of the documents of a DER in IEEE 2030.5, from the tables that write them. */
import { memo } from '../../core/lazy.ts';
import { derScalars, derTypes } from '../../contract/csip-der-tables.ts';
import type { Row, ScalarFacts } from '../../contract/csip-der-tables.ts';
import type { CsipDocument } from '../../contract/csip-reports.ts';
import { z } from '../description/zod.ts';

type Members = Record<string, z.ZodType>;

function scalarSchema({ kind, min = 0, max = 0 }: ScalarFacts): z.ZodType {
  switch (kind) {
    case 'integer':
      return z.int().min(min).max(max);
    case 'boolean':
      return z.boolean();
    case 'hex':
      return z.string().regex(new RegExp(`^([0-9A-Fa-f]{2}){1,${max}}$`));
    case 'text':
      return z.string().max(max);
    case 'uri':
      return z.string().regex(/^\S+$/);
  }
}

const sinceWords: Readonly<Record<NonNullable<Row[3]>, string>> = {
  '2023': ', from the revision of 2023 on',
  'aus 1.2': ', from CSIP-AUS 1.2 on',
  'aus 1.3': ', from CSIP-AUS 1.3 on',
};

function memberSchema([, type, occurs, since]: Row): z.ZodType {
  const facts = derScalars[type];
  const schema = facts === undefined ? typeSchema(type) : scalarSchema(facts);
  const described = schema.openapi({ description: `${type} of IEEE 2030.5${since ? sinceWords[since] : ''}.` });
  // a member of a later revision or of an extension is absent where the server has another one
  return occurs === '1' && since === undefined ? described : described.optional();
}

const schemas = new Map<string, z.ZodType>();

/** Attributes (`@`) belong to resources of a server: no document that a client sends has any. */
function typeSchema(type: string): z.ZodType {
  const cached = schemas.get(type);
  if (cached !== undefined) return cached;
  const members: Members = {};
  for (const row of derTypes[type] ?? []) if (!row[0].startsWith('@')) members[row[0]] = memberSchema(row);
  const schema = z.strictObject(members).openapi(`Csip${type}`);
  schemas.set(type, schema);
  return schema;
}

/** The schema of a document of a DER, such as `DERStatus`. */
export const documentSchema = (name: string): (() => z.ZodType<CsipDocument>) =>
  // the tables give the document its members
  memo(() => typeSchema(name) as z.ZodType<CsipDocument>);
