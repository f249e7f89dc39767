/** The schemas of one version, from the files that the package ocpp-rpc carries, which stay as they are. */
import { readFileSync } from 'node:fs';
import { SimError } from '../../../core/errors.ts';
import { packageFile, runsFromBuild } from '../../../core/package-files.ts';
import { checkDescriptorsToRequire } from '../../../core/shortage.ts';
import type { OcppSubprotocol, PayloadSide } from '../model.ts';

/** A JSON Schema of draft 06 or 07. */
export type PayloadSchema = Readonly<Record<string, unknown>>;

/** The schemas of an action as JSON texts: a text takes a small part of the memory of its objects. */
export type SchemaTexts = ReadonlyMap<string, { readonly [Side in PayloadSide]?: string }>;

const fileNames: Readonly<Record<OcppSubprotocol, string>> = {
  'ocpp1.6': 'ocpp1_6.json',
  'ocpp2.0.1': 'ocpp2_0_1.json',
  'ocpp2.1': 'ocpp2_1.json',
};

/** Absolute path of the file of a version: an installed package has a copy beside its bundle. */
export function schemaFile(version: OcppSubprotocol): string {
  const folder = runsFromBuild ? 'dist/ocpp-schemas' : 'node_modules/ocpp-rpc/lib/schemas';
  return packageFile(`${folder}/${fileNames[version]}`);
}

/** Ids are `urn:Authorize.req` and `.conf`, in 2.1 `urn:AuthorizeRequest`, `...Response`, and a bare name for a SEND. */
function nameOf(id: string): { readonly action: string; readonly side: PayloadSide } {
  const [, action = '', suffix] = /^urn:(\w+?)(\.req|\.conf|Request|Response)?$/.exec(id) ?? [];
  if (action === '') throw new SimError('INTERNAL', `no schema of OCPP has the id ${id}`);
  return { action, side: suffix === '.conf' || suffix === 'Response' ? 'reply' : 'request' };
}

/** Texts that the check has no use for; a member that is called so has a schema, not a text. */
const remarks: readonly string[] = ['$schema', 'description', 'comment', 'javaType'];

/** @throws SimError SHORTAGE; the error of the file system */
export function readSchemas(version: OcppSubprotocol): SchemaTexts {
  checkDescriptorsToRequire();
  const schemas = JSON.parse(readFileSync(schemaFile(version), 'utf8')) as readonly PayloadSchema[];
  const texts = new Map<string, { [Side in PayloadSide]?: string }>();
  for (const { $id, ...schema } of schemas) {
    const { action, side } = nameOf(String($id));
    const sides = texts.get(action) ?? {};
    texts.set(action, sides);
    sides[side] = JSON.stringify(schema, (name, value: unknown) =>
      typeof value === 'string' && remarks.includes(name) ? undefined : value,
    );
  }
  return texts;
}
