/** The state of a folder as one JSON document, for `derbench state export` and `import`. */
import { SimError } from '../core/errors.ts';
import { didYouMean } from '../core/nearest.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue } from '../core/store.ts';
import { checkedContents } from './contents.ts';
import type { Contents } from './contents.ts';
import { migrated } from './migrations.ts';
import { formatVersion } from './record.ts';
import { withoutSecrets } from './secrets.ts';
import { devicesIn, layoutsSlot, ownersOf, ownersSlot, slotsOfDevice, withOwners } from './slots.ts';

/** The members of a document. */
interface StateDocument {
  /** version of the form */
  readonly derbench_state: number;
  readonly derbench: string;
  /** ISO 8601 */
  readonly exported_at: string;
  /** null: the whole simulator */
  readonly device: number | null;
  /** false: passwords and keys are left out */
  readonly secrets: boolean;
  /** slots whose secrets are left out */
  readonly left_out: readonly string[];
  readonly slots: Readonly<Record<string, readonly JsonValue[]>>;
}

const documentMembers = [
  'derbench_state',
  'derbench',
  'exported_at',
  'device',
  'secrets',
  'left_out',
  'slots',
] as const;

interface ExportOptions {
  /** null: all of them */
  readonly device: number | null;
  readonly withSecrets: boolean;
  readonly nowMs: number;
  /** of this simulator */
  readonly version: string;
}

const noSuchDevice = (device: number, contents: Contents) => {
  const indexes = devicesIn(contents);
  const present =
    indexes.length === 0 ? 'of none' : `of ${indexes.slice(0, 20).join(', ')}${indexes.length > 20 ? ', ...' : ''}`;
  return new SimError('CONFIG_INVALID', `--device: there is no state of device ${device}; there is state ${present}`);
};

/**
 * The slots of one device, with its row of the table.
 * @throws SimError CONFIG_INVALID if there are none
 */
export function partOf(contents: Contents, device: number): Contents {
  const owners = ownersOf(contents);
  const isOfDevice = slotsOfDevice(device, owners);
  const part = new Map([...contents].filter(([slot]) => isOfDevice(slot)));
  if (part.size === 0) throw noSuchDevice(device, contents);
  const layouts = contents.get(layoutsSlot);
  if (layouts) part.set(layoutsSlot, layouts);
  return withOwners(
    part,
    owners.filter((owner) => owner.device === device),
  );
}

/** The register maps of both contents: their devices name them. */
function joinedLayouts(contents: Contents, part: Contents): readonly (readonly [string, readonly string[]])[] {
  const texts = [contents, part].flatMap((each) => each.get(layoutsSlot) ?? []);
  return texts.length === 0
    ? []
    : [[layoutsSlot, [JSON.stringify(Object.assign({}, ...texts.map((text) => JSON.parse(text) as object)))]]];
}

/** The contents with another state of one device; an empty part: without it. */
export function withPart(contents: Contents, part: Contents, device: number): Contents {
  const owners = [...ownersOf(contents).filter((owner) => owner.device !== device), ...ownersOf(part)];
  const isOld = slotsOfDevice(device, ownersOf(contents));
  const others = [...contents].filter(([slot]) => !isOld(slot) && !part.has(slot));
  const entered = [...part].filter(([slot]) => slot !== ownersSlot);
  return withOwners(
    new Map([...others, ...entered, ...joinedLayouts(contents, part)]),
    owners.sort((a, b) => a.device - b.device),
  );
}

/** Devices that clients have added, as the simulator keeps them. */
const changesSlot = slotName('plant', 'shared', 'changes');

/** Contents in which no client has added the device; null: none has. */
function withoutAdded(contents: Contents, device: number): Contents | null {
  const [text] = contents.get(changesSlot) ?? [];
  const changes = text === undefined ? null : (JSON.parse(text) as { readonly joined?: unknown } | null);
  const joined: readonly unknown[] = Array.isArray(changes?.joined) ? changes.joined : [];
  const others = joined.filter((each) => (each as { readonly index?: unknown } | null)?.index !== device);
  if (others.length === joined.length) return null;
  return new Map(contents).set(changesSlot, [JSON.stringify({ ...changes, joined: others })]);
}

/**
 * The contents without the state of a device: one of the configuration stays part of them, so that a document of it can
 * be imported, and one that a client has added is gone.
 * @throws SimError CONFIG_INVALID if there is no state of it
 */
export function emptied(contents: Contents, device: number): Contents {
  partOf(contents, device);
  const others = withPart(contents, new Map(), device);
  const without = withoutAdded(others, device);
  if (without !== null) return without;
  const owners = [...ownersOf(others), { device, slots: [] }].sort((a, b) => a.device - b.device);
  return withOwners(others, owners);
}

/**
 * The contents with the state of one device in a document.
 * @throws SimError CONFIG_INVALID for a device that is no part of them
 */
export function withDevice(contents: Contents, part: Contents, device: number): Contents {
  if (!devicesIn(contents).includes(device)) throw noSuchDevice(device, contents);
  return withPart(contents, part, device);
}

/** @throws SimError CONFIG_INVALID for a device without state */
export function exported(contents: Contents, options: ExportOptions): StateDocument {
  const { device, withSecrets, nowMs, version } = options;
  const chosen = device === null ? contents : partOf(contents, device);
  const leftOut: string[] = [];
  const slots = [...chosen].map(([slot, texts]): readonly [string, readonly JsonValue[]] => {
    const values = texts.map((text) => JSON.parse(text) as JsonValue);
    const clean = withSecrets ? { values, hasLeftOut: false } : withoutSecrets(slot, values);
    if (clean.hasLeftOut) leftOut.push(slot);
    return [slot, clean.values];
  });
  return {
    derbench_state: formatVersion,
    derbench: version,
    exported_at: new Date(nowMs).toISOString(),
    device,
    secrets: withSecrets,
    left_out: leftOut,
    slots: Object.fromEntries(slots),
  };
}

/** A document that was read and checked. */
export interface ImportedState {
  readonly contents: Contents;
  /** null: the whole simulator */
  readonly device: number | null;
  /** slots without their secrets */
  readonly leftOut: readonly string[];
}

const invalid = (words: string) => new SimError('CONFIG_INVALID', words);

/**
 * Reads a document.
 * @param text of the file
 * @throws SimError CONFIG_INVALID for anything else than a document of this form, with names and sizes that a store keeps
 */
export function imported(text: string): ImportedState {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw invalid(`is no JSON: ${(error as Error).message}`);
  }
  if (typeof document !== 'object' || document === null || !('derbench_state' in document))
    throw invalid('is no document of derbench state export: it has no derbench_state');
  const {
    derbench_state: form,
    device = null,
    left_out: leftOut = [],
    secrets,
    slots,
  } = document as Partial<StateDocument>;
  if (typeof form !== 'number' || !Number.isInteger(form) || form < 1 || form > formatVersion)
    throw invalid(`derbench_state: given ${JSON.stringify(form)}; allowed: 1 to ${formatVersion}`);
  const unknown = Object.keys(document).find((name) => !(documentMembers as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw invalid(
      `has the member ${JSON.stringify(unknown)}, which no document has${didYouMean(unknown, documentMembers)}`,
    );
  if (device !== null && !(Number.isInteger(device) && device >= 0))
    throw invalid(`device: given ${JSON.stringify(device)}; allowed: the index of a device, or null`);
  if (!Array.isArray(leftOut) || leftOut.some((slot) => typeof slot !== 'string'))
    throw invalid('left_out: allowed: a list of names of slots');
  if (!['boolean', 'undefined'].includes(typeof secrets))
    throw invalid(`secrets: given ${JSON.stringify(secrets)}; allowed: true, false`);
  const contents = migrated(checkedContents(slots), form);
  if (device !== null) checkPart(contents, device);
  return { contents, device, leftOut };
}

/** @throws SimError CONFIG_INVALID for slots that are not those of the device */
function checkPart(contents: Contents, device: number): void {
  const isOfDevice = slotsOfDevice(device, ownersOf(contents));
  const foreign = [...contents.keys()].find((slot) => slot !== ownersSlot && slot !== layoutsSlot && !isOfDevice(slot));
  if (foreign !== undefined)
    throw invalid(`slots: ${JSON.stringify(foreign)} does not belong to device ${device}, whose state the document is`);
}
