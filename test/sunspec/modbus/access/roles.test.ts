import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { writersOf } from '../../../../src/sunspec/modbus/access/access-bridge.ts';
import { roleOfName, roles } from '../../../../src/sunspec/modbus/access/certificate-role.ts';
import { plainPath } from '../../../../src/sunspec/map/layout.ts';
import { mapLayout } from '../../../support/map.ts';
import { skip } from '../../../support/skip.ts';

interface RightsGroup {
  readonly points?: readonly {
    readonly name: string;
    readonly read_roles: readonly string[];
    readonly write_roles: readonly string[];
  }[];
  readonly groups?: readonly (RightsGroup & { readonly name: string })[];
}

interface Row {
  readonly path: string;
  readonly readers: readonly string[];
  readonly writers: readonly string[];
}

/** The published tables, where they lie beside the repository or where the environment says. */
const directory =
  process.env['SUNSPEC_RIGHTS_DIR'] ??
  fileURLToPath(new URL('../../../../../shared/data/sunspec/rbac', import.meta.url));

function rowsOf({ points = [], groups = [] }: RightsGroup, prefix = ''): Row[] {
  const known = (names: readonly string[]) => names.map((name) => roleOfName(name) ?? `unknown ${name}`).sort();
  return [
    ...points.map(({ name, read_roles, write_roles }) => ({
      path: prefix + name,
      readers: known(read_roles),
      writers: known(write_roles),
    })),
    ...groups.flatMap((group) => rowsOf(group, `${prefix}${group.name}.`)),
  ];
}

/** RW points of each model by path without indices. */
const writable = new Map<number, Set<string>>();
for (const { modelId, path, def } of mapLayout({ storage: true, simModels: true }).slots) {
  if (def.access !== 'RW') continue;
  const paths = writable.get(modelId) ?? new Set();
  writable.set(modelId, paths.add(plainPath(path)));
}

/** How many of the RW points of a model each role writes. */
const counted = Object.fromEntries(
  [...writable].map(([modelId, paths]) => {
    const written = (role: (typeof roles)[number]) =>
      [...paths].filter((path) => writersOf(modelId, path).includes(role)).length;
    return [modelId, [paths.size, ...roles.map(written)]];
  }),
);

describe('Secure SunSpec roles', () => {
  it('have the names of the certificates, and the short one of the published tables', () => {
    for (const role of roles) expect(roleOfName(role)).to.equal(role);
    expect(roleOfName('SuperAdministratorSpec')).to.equal('SuperAdministratorSunSpec');
    for (const name of ['', 'SuperAdministrator', 'readonlysunspec', 'toString'])
      expect(roleOfName(name), name).to.equal(undefined);
  });

  it('write so many points of each model (RW, ReadOnly, GridService, NetworkAdministrator, SuperAdministrator)', () => {
    expect(counted).to.deep.equal({
      1: [1, 0, 0, 1, 1],
      702: [19, 0, 16, 0, 19],
      703: [8, 0, 8, 0, 8],
      704: [40, 0, 40, 0, 40],
      705: [13, 0, 13, 0, 13],
      706: [9, 0, 9, 0, 9],
      707: [11, 0, 0, 0, 11],
      708: [11, 0, 0, 0, 11],
      709: [11, 0, 0, 0, 11],
      710: [11, 0, 0, 0, 11],
      711: [10, 0, 10, 0, 10],
      712: [9, 0, 9, 0, 9],
      715: [3, 0, 0, 0, 3],
      802: [6, 0, 2, 0, 6],
      64414: [8, 0, 0, 0, 8],
    });
    for (const path of ['VNom', 'VMax', 'VMin'])
      expect(writersOf(702, path)).to.deep.equal(['SuperAdministratorSunSpec']);
  });

  it('leave an unknown model to the super administrator', () => {
    expect(writersOf(65000, 'W')).to.deep.equal(['SuperAdministratorSunSpec']);
  });

  it('agree with the published tables row by row', function () {
    if (!existsSync(directory)) skip(this, `the published tables of rights are missing: ${directory}`);
    const files = readdirSync(directory).filter((name) => name.endsWith('.json'));
    expect(files).to.have.lengthOf(16);
    let rows = 0;
    for (const file of files) {
      const modelId = Number(/\d+/.exec(file)?.[0]);
      const { group } = JSON.parse(readFileSync(join(directory, file), 'utf8')) as { group: RightsGroup };
      for (const { path, readers, writers } of rowsOf(group)) {
        const ours = writable.get(modelId)?.has(path) === true ? [...writersOf(modelId, path)].sort() : [];
        expect(ours, `${modelId}.${path}`).to.deep.equal(writers);
        expect(readers, `${modelId}.${path}`).to.deep.equal([...roles].sort());
        rows += 1;
      }
    }
    expect(rows).to.equal(394);
  });
});
