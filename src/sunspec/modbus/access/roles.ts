/** Roles of a Secure SunSpec certificate, and what each may write. */

export const roles = [
  'ReadOnlySunSpec',
  'GridServiceSunSpec',
  'NetworkAdministratorSunSpec',
  'SuperAdministratorSunSpec',
] as const;

export type Role = (typeof roles)[number];

/** The published tables of rights shorten the last role. */
const otherSpellings: Readonly<Record<string, Role>> = { SuperAdministratorSpec: 'SuperAdministratorSunSpec' };

/** The role of a name, exactly as it is written in certificates; undefined when there is none. */
export function roleOfName(name: string): Role | undefined {
  return (
    roles.find((role) => role === name) ?? (Object.hasOwn(otherSpellings, name) ? otherSpellings[name] : undefined)
  );
}

/** Who may write a point. */
export type Writers = readonly Role[];

const gridService: Writers = ['GridServiceSunSpec', 'SuperAdministratorSunSpec'];
const network: Writers = ['NetworkAdministratorSunSpec', 'SuperAdministratorSunSpec'];
const superOnly: Writers = ['SuperAdministratorSunSpec'];

interface ModelRights {
  readonly writers: Writers;
  /** points with other writers, by path without indices (`Crv.Pt.V`) */
  readonly except?: Readonly<Record<string, Writers>>;
}

/**
 * Writers of the RW points of each model, as the public table of rights of DERSec has them (github.com/dersecure/rbac).
 * It has no row for the last two: 802 takes its control points from the rows of 715 and its reserves, which bound what a
 * grid service may use, from those of 702; the simulation controls of 64414 stand for nature and the operator.
 * In a model without a row only the super administrator writes.
 */
const rights: Readonly<Record<number, ModelRights>> = {
  1: { writers: network },
  702: { writers: gridService, except: { VNom: superOnly, VMax: superOnly, VMin: superOnly } },
  703: { writers: gridService },
  704: { writers: gridService },
  705: { writers: gridService },
  706: { writers: gridService },
  707: { writers: superOnly },
  708: { writers: superOnly },
  709: { writers: superOnly },
  710: { writers: superOnly },
  711: { writers: gridService },
  712: { writers: gridService },
  715: { writers: superOnly },
  802: { writers: superOnly, except: { SocRsvMax: gridService, SoCRsvMin: gridService } },
  64414: { writers: superOnly },
};

/**
 * Roles that may write a point which the model defines as RW. Every role reads every point.
 * @param path without indices
 */
export function writersOf(modelId: number, path: string): Writers {
  const model = rights[modelId];
  return model?.except?.[path] ?? model?.writers ?? superOnly;
}
