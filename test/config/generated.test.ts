import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { z } from 'zod';
import { generatedFiles } from '../../scripts/generate-schemas.ts';
import { bundledProfileNames } from '../../src/config/bundled.ts';
import { deviceTypes } from '../../src/config/device-types.ts';
import { loadConfig } from '../../src/config/load.ts';
import { settingKeys, settingOf } from '../../src/config/settings.ts';

const config = fileURLToPath(new URL('../../config/', import.meta.url));
const text = (name: string) => readFileSync(config + name, 'utf8');
const published = (name: string) => z.fromJSONSchema(JSON.parse(text(`schema/${name}.schema.json`)));

describe('generated configuration files', () => {
  for (const [name, expected] of generatedFiles()) {
    it(`${name} is up to date (npm run generate:schemas)`, () => expect(text(name)).to.equal(expected));
  }

  it('default.yaml changes nothing', () => {
    const { configPath, ...withFile } = (loadConfig(['--config', `${config}default.yaml`], {}) as { config: { configPath: string } }).config;
    const { configPath: none, ...without } = (loadConfig([], {}) as { config: { configPath: null } }).config;
    expect(withFile).to.deep.equal(without);
    expect([configPath, none]).to.deep.equal([`${config}default.yaml`, null]);
  });
  it('the published schema describes every setting of a file and nothing unknown', () => {
    const schema = JSON.parse(text('schema/config.schema.json'));
    expect(schema.$schema).to.equal('https://json-schema.org/draft/2020-12/schema');
    expect(schema.additionalProperties).to.equal(false);
    expect(Object.keys(schema.properties)).to.have.members([...settingKeys.filter((key) => !settingOf(key).noFile), 'grid', 'devices']);
    expect(published('config').safeParse({ seed: 1, tickk: 2 }).success).to.equal(false);
    expect(published('config').safeParse({ devices: [{ profile: { pv: { series: -1 } } }] }).success).to.equal(false);
  });
  it('default.yaml passes the published schema', () => {
    expect(published('config').safeParse(parse(text('default.yaml'))).success).to.equal(true);
  });
});

describe('examples', () => {
  for (const name of readdirSync(`${config}examples`)) {
    it(`${name} loads, and passes the published schema`, () => {
      expect(loadConfig(['--config', `${config}examples/${name}`], {}).kind).to.equal('run');
      expect(published('config').safeParse(parse(text(`examples/${name}`))).success).to.equal(true);
    });
  }
});

describe('bundled profiles', () => {
  it('are the files in config/profiles', () => {
    expect(readdirSync(`${config}profiles`).sort()).to.deep.equal(bundledProfileNames.map((name) => `${name}.yaml`).sort());
  });
  for (const name of bundledProfileNames) {
    it(`${name} loads, and passes the published schema`, () => {
      expect(loadConfig(['-f', name], {}).kind).to.equal('run');
      expect(published('device-profile').safeParse(parse(text(`profiles/${name}.yaml`))).success).to.equal(true);
    });
  }
  it('include the default of every device type', () => {
    for (const type of Object.values(deviceTypes)) expect(bundledProfileNames).to.include(type.defaultProfile);
  });
});
