import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { defaultsYaml, schemaOf, schemaTexts, settingsList } from '../../scripts/generate-schemas.ts';
import type { AppConfig } from '../../src/config/settings/app-config.ts';
import { bundledEvseProfileNames, bundledProfileNames } from '../../src/config/profile/bundled.ts';
import { deviceTypes } from '../../src/config/profile/device-types.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { settingKeys, settingOf } from '../../src/config/settings/settings.ts';
import { simTimeFromMs } from '../../src/core/time/clock.ts';
import { createTemplate } from '../../src/der/device/template.ts';

const config = fileURLToPath(new URL('../../config/', import.meta.url));
const text = (name: string) => readFileSync(config + name, 'utf8');
const schemas = new Map<string, ReturnType<typeof z.fromJSONSchema>>();

/** A published schema, read once. */
function published(name: keyof typeof schemaTexts): ReturnType<typeof z.fromJSONSchema> {
  const schema = schemas.get(name) ?? z.fromJSONSchema(schemaOf(name));
  schemas.set(name, schema);
  return schema;
}

describe('generated configuration files', () => {
  it('default.yaml is up to date (npm run generate:schemas)', () => {
    expect(text('default.yaml')).to.equal(defaultsYaml());
  });

  it('docs/reference/settings-list.md is up to date (npm run generate:schemas)', () => {
    expect(text('../docs/reference/settings-list.md')).to.equal(settingsList());
  });

  it('the schema and the list have the class of every setting, with adapter or reason', () => {
    const properties = schemaOf('config')['properties'] as Record<string, Record<string, unknown>>;
    for (const key of settingKeys.filter((each) => !settingOf(each).noFile)) {
      const { changes } = settingOf(key);
      const { 'x-changes': by, 'x-adapter': adapter, 'x-why': why } = properties[key] ?? {};
      expect({ by, adapter, why }, key).to.deep.equal({
        by: changes.by,
        adapter: changes.by === 'adapter' ? changes.adapter : undefined,
        why: changes.by === 'start' ? changes.why : undefined,
      });
    }
  });

  for (const [name, schemaText] of Object.entries(schemaTexts))
    it(`the schema ${name} is one of JSON Schema 2020-12 with a name, the same each time`, () => {
      const schema = JSON.parse(schemaText()) as Record<string, unknown>;
      expect([schema['$schema'], schema['$id']]).to.deep.equal([
        'https://json-schema.org/draft/2020-12/schema',
        `urn:derbench:schema:${name}`,
      ]);
      expect(schemaText()).to.equal(schemaText());
    });

  it('default.yaml changes nothing', () => {
    const dataOf = ({ deviceOf, settings, ...data }: AppConfig) => ({
      ...data,
      values: settings.values,
      makes: deviceOf({ device_type: 'EVSE' }, 7),
    });
    const { configPath, values: valuesWithFile, ...withFile } = dataOf(load(['--config', `${config}default.yaml`]));
    const { configPath: none, values, ...without } = dataOf(load([]));
    expect(withFile).to.deep.equal(without);
    expect({ ...valuesWithFile, config: null }).to.deep.equal(values);
    expect([configPath, none]).to.deep.equal([`${config}default.yaml`, null]);
  });
  it('the published schema describes every setting of a file and nothing unknown', () => {
    const schema = schemaOf('config');
    expect(schema['additionalProperties']).to.equal(false);
    expect(Object.keys(schema['properties'] as object)).to.have.members([
      ...settingKeys.filter((key) => !settingOf(key).noFile),
      'grid',
      'faults',
      'findings',
      'devices',
      'left_out',
      'notes',
    ]);
    expect(published('config').safeParse({ seed: 1, tickk: 2 }).success).to.equal(false);
    expect(published('config').safeParse({ devices: [{ profile: { pv: { series: -1 } } }] }).success).to.equal(false);
  });
  it('default.yaml passes the published schema', () => {
    expect(published('config').safeParse(parse(text('default.yaml'))).success).to.equal(true);
  });
});

function load(argv: readonly string[]): AppConfig {
  const result = loadConfig(argv, {});
  if (result.kind !== 'run') throw new Error(`expected a run, got ${result.kind}`);
  return result.config;
}

/** The registers take every start value. @throws SimError otherwise */
function expectTemplates({ devices }: AppConfig): void {
  const seen = new Set();
  for (const { profile, phases, assetType } of devices) {
    if (seen.has(profile)) continue;
    seen.add(profile);
    expect(createTemplate(profile, phases, 60, simTimeFromMs(0), 0).assetType).to.equal(assetType);
  }
}

describe('examples', () => {
  const names = readdirSync(`${config}examples`).filter((name) => name.endsWith('.yaml'));
  for (const name of names) {
    it(`${name} loads, makes devices, and passes the published schema`, () => {
      expectTemplates(load(['--config', `${config}examples/${name}`]));
      expect(published('config').safeParse(parse(text(`examples/${name}`))).success).to.equal(true);
    });
  }
  it('show every kind on one site, and a fleet of 1,000', () => {
    const site = load(['--config', `${config}examples/mixed-site.yaml`]);
    expect(new Set(site.devices.map(({ assetType }) => assetType)).size).to.equal(6);
    expect(site.grid.feeder).to.not.equal(null);
    expect(site.devices.filter(({ series }) => series.load !== null)).to.have.length(1);
    expect(load(['--config', `${config}examples/fleet-1000.yaml`]).devices).to.have.length(1000);
  });
});

/** A device type that a bundled profile is for, by the name of its file. */
function typeOfProfile(name: string): string {
  const type = Object.entries(deviceTypes).find(([, { assetType, phases, ...rest }]) => {
    const kind = /^(?:Field-)?(Batt|Wind|Fuelcell|HybridDC)-/.exec(name)?.[1] ?? 'pv';
    const sameKind = assetType.startsWith(
      { Batt: 'battery', Wind: 'wind', Fuelcell: 'fuelcell', HybridDC: 'hybrid-dc' }[kind] ?? 'pv',
    );
    const samePhases = name.includes({ three: '3Phase', split: '2Phase', single: '1Phase' }[phases]);
    return sameKind && samePhases && (!('windType' in rest) || name.includes(`-${rest.windType}-`));
  });
  if (!type) throw new Error(`no device type for ${name}`);
  return type[0];
}

describe('bundled profiles', () => {
  it('are the files in config/profiles', () => {
    const names = [...bundledProfileNames, ...bundledEvseProfileNames];
    expect(readdirSync(`${config}profiles`).sort()).to.deep.equal(names.map((name) => `${name}.yaml`).sort());
  });
  const runs = [
    ...bundledProfileNames.map((name) => [name, ['-d', typeOfProfile(name), '-f', name]] as const),
    ...bundledEvseProfileNames.map((name) => [name, ['--evse_profile', name]] as const),
  ];
  for (const [name, argv] of runs) {
    it(`${name} loads, makes a device, and passes the published schema`, () => {
      expectTemplates(load(argv));
      expect(published('device-profile').safeParse(parse(text(`profiles/${name}.yaml`))).success).to.equal(true);
    });
    it(`${name} is listed with the profiles of its kind`, () => {
      expect('evse' in parse(text(`profiles/${name}.yaml`))).to.equal(bundledEvseProfileNames.includes(name));
    });
  }
  it('include the default of every device type', () => {
    for (const { assetType, defaultProfile } of Object.values(deviceTypes)) {
      expect(assetType === 'evse' ? bundledEvseProfileNames : bundledProfileNames).to.include(defaultProfile);
    }
  });
});
