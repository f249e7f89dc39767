/** Rights of roles on the registers of a map; the only file that uses both points and roles. */
import { SimError } from '../../../core/errors.ts';
import { ignoresWrites, memoPerLayout, noSlot, plainPath } from '../../map/layout.ts';
import type { Layout } from '../../map/layout.ts';
import { functionTable } from '../../map/grid-support/functions.ts';
import type { PathIn } from '../../map/point-path.ts';
import type { m121 } from '../../models/m121.ts';
import { roles } from './certificate-role.ts';
import type { Role } from './certificate-role.ts';

/** Roles with the right to write a point. */
type Writers = readonly Role[];

const gridService: Writers = ['GridServiceSunSpec', 'SuperAdministratorSunSpec'];
const network: Writers = ['NetworkAdministratorSunSpec', 'SuperAdministratorSunSpec'];
const superOnly: Writers = ['SuperAdministratorSunSpec'];

interface ModelRights {
  readonly writers: Writers;
  /** exceptions, by path without indices (`Crv.Pt.V`) */
  readonly except?: Readonly<Record<string, Writers>>;
}

/** Models 703 to 712 follow the rights on their functions. */
const functionRights: Readonly<Record<number, ModelRights>> = Object.fromEntries(
  Object.values(functionTable).map(({ model, writers }) => [
    model,
    { writers: writers === 'grid_service' ? gridService : superOnly },
  ]),
);

/**
 * Settings of the classic model 121 with the rights of their counterparts in 702: what describes the grid at the site
 * (nominal voltage and frequency, limits of the voltage, phase of the connection) is not for a grid service to change.
 */
const classicSettings: ModelRights = {
  writers: gridService,
  except: {
    VRef: superOnly,
    VRefOfs: superOnly,
    VMax: superOnly,
    VMin: superOnly,
    ECPNomHz: superOnly,
    ConnPh: superOnly,
  } satisfies Partial<Record<(typeof m121)['points'][number]['name'], Writers>>,
};

/**
 * Writers of the RW points of each model, as the public table of rights of DERSec has them (github.com/dersecure/rbac).
 * The table has no row for the classic models, 802 and 64414. The classic controls have the rights of their successors:
 * 123 follows 703 and 704, 124 follows 704 and the reserves of 802, 126 follows 705. The control points of 802 have the
 * rights of 715; its reserves limit the energy that a grid service may use, and have the rights of 702. The points of
 * 64414 simulate what weather and the operator do, so only the super administrator may write them. The same holds for
 * models without a row.
 */
const rights: Readonly<Record<number, ModelRights>> = {
  1: { writers: network },
  121: classicSettings,
  123: { writers: gridService },
  124: { writers: gridService },
  126: { writers: gridService },
  702: {
    writers: gridService,
    except: { VNom: superOnly, VMax: superOnly, VMin: superOnly } satisfies Partial<Record<PathIn<702>, Writers>>,
  },
  ...functionRights,
  715: { writers: superOnly },
  802: {
    writers: superOnly,
    except: { SocRsvMax: gridService, SoCRsvMin: gridService } satisfies Partial<Record<PathIn<802>, Writers>>,
  },
  64414: { writers: superOnly },
};

/** Roles that may write a point defined as RW. Every role reads every point. @param path without indices */
export function writersOf(modelId: number, path: string): Writers {
  const model = rights[modelId];
  return model?.except?.[path] ?? model?.writers ?? superOnly;
}

/** Per register of a map: one bit per role that may write it, and a further bit for reading without a role. */
type RegisterRights = Uint8Array;

const bitOf = Object.fromEntries(roles.map((role, i) => [role, 1 << i])) as Readonly<Record<Role, number>>;
const discoveryBit = 1 << roles.length;

/** Roles that write nothing. */
const readers: ReadonlySet<Role> = new Set<Role>(['ReadOnlySunSpec']);
/**
 * Bits of all roles that write something. Read-only registers have them: the map itself refuses or ignores the write.
 */
const writerBits = roles.filter((role) => !readers.has(role)).reduce((bits, role) => bits | bitOf[role], 0);

const rightsOf = memoPerLayout(({ base, models, slots, slotAt }): RegisterRights => {
  const rights = Uint8Array.from(slotAt, (index) => {
    const slot = index === noSlot ? undefined : slots[index];
    if (slot === undefined) return writerBits | discoveryBit;
    if (slot.def.access !== 'RW' || ignoresWrites(slot)) return writerBits;
    return writersOf(slot.modelId, plainPath(slot.path)).reduce((bits, role) => bits | bitOf[role], 0);
  });
  for (const { address } of models) {
    for (const at of [address - base, address - base + 1]) rights[at] = writerBits | discoveryBit;
  }
  return rights;
});

/** True if every register of a span has the bit. @param outside the right on registers beyond the map */
function permits(layout: Layout, bit: number, address: number, count: number, outside: boolean): boolean {
  const rights = rightsOf(layout);
  const first = address - layout.base;
  for (let at = first; at < first + count; at += 1) {
    const right = rights[at];
    if (right === undefined ? !outside : (right & bit) === 0) return false;
  }
  return true;
}

/**
 * Every role reads everything. Without a role only the chain of models can be walked: marker, ID and length of each
 * model, end model.
 * @throws SimError ACCESS_DENIED
 */
export function checkReadRight(layout: Layout, role: Role | null, address: number, count: number): void {
  if (role !== null || permits(layout, discoveryBit, address, count, false)) return;
  throw new SimError('ACCESS_DENIED', 'without a role only the marker, model ids and model lengths can be read');
}

/**
 * Checks the rights on points before any other check of a write.
 * @throws SimError ACCESS_DENIED if the role may not write one of the points
 */
export function checkWriteRight(layout: Layout, role: Role | null, address: number, count: number): void {
  if (role !== null && !readers.has(role) && permits(layout, bitOf[role], address, count, true)) return;
  throw new SimError(
    'ACCESS_DENIED',
    `registers ${address}..${address + count - 1} are not for ${role ?? 'a client without a role'} to write`,
  );
}
