import { expect } from 'chai';
import { secretSettings } from '../../../src/contract/settings.ts';
import { z } from 'zod';
import { deviceProfileSchema } from '../../../src/config/profile/device-profile.ts';
import { knownSpellings } from '../../../src/config/layers/flags.ts';
import { settingKeys, settingOf } from '../../../src/config/settings/settings.ts';

describe('settings', () => {
  it('say how they change, and the reason is a sentence', () => {
    for (const key of settingKeys) {
      const { changes } = settingOf(key);
      if (changes.by === 'start') expect(changes.why, key).to.match(/^[A-Z].*\.$/);
    }
  });

  it('are secret where the contract says so', () => {
    expect(settingKeys.filter((key) => settingOf(key).secret === true)).to.have.members([...secretSettings]);
  });

  it('have spellings of their own', () => {
    const spellings = settingKeys.flatMap((key) => settingOf(key).flags ?? []);
    expect(new Set(spellings).size).to.equal(spellings.length);
    expect(knownSpellings).to.include.members(spellings);
  });

  const schema = z.toJSONSchema(deviceProfileSchema, { io: 'input' });
  for (const key of settingKeys) {
    const { member, kinds } = settingOf(key);
    if (member === undefined) continue;
    it(`${key} replaces members that profiles have, for kinds that it names`, () => {
      for (const path of [member.path, ...(member.replaces ?? [])]) {
        const [block = '', name] = path.split('.');
        // a member of the profile itself is of all kinds
        expect(kinds === undefined, path).to.equal(name === undefined);
        if (name === undefined) expect(schema.properties).to.have.property(block);
        else expect(schema.properties?.[block], path).to.have.nested.property(`properties.${name}`);
      }
    });
  }
});
