import { expect } from 'chai';
import { z } from 'zod';
import { deviceProfileSchema } from '../../../src/config/profile/device-profile.ts';
import { knownSpellings } from '../../../src/config/layers/flags.ts';
import { settingKeys, settingOf } from '../../../src/config/settings/settings.ts';

describe('settings', () => {
  it('have spellings of their own', () => {
    const spellings = settingKeys.flatMap((key) => settingOf(key).flags ?? []);
    expect(new Set(spellings).size).to.equal(spellings.length);
    expect(knownSpellings).to.include.members(spellings);
  });

  for (const key of settingKeys) {
    const { member, kinds } = settingOf(key);
    if (member === undefined) continue;
    it(`${key} replaces members that profiles have, for kinds that it names`, () => {
      expect(kinds).to.not.equal(undefined);
      const schema = z.toJSONSchema(deviceProfileSchema, { io: 'input' });
      for (const path of [member.path, ...(member.replaces ?? [])]) {
        const [block = '', name = ''] = path.split('.');
        expect(schema.properties?.[block], path).to.have.nested.property(`properties.${name}`);
      }
    });
  }
});
