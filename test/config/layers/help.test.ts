import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { knownSpellings } from '../../../src/config/layers/flags.ts';
import { helpText } from '../../../src/config/layers/help.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { deviceTypeAliases, deviceTypes } from '../../../src/config/profile/device-types.ts';
import { settingGroups, settingKeys, settingOf, variableOf } from '../../../src/config/settings/settings.ts';
import { exitCodes } from '../../../src/core/exit-codes.ts';
import { packageFile } from '../../../src/core/package-files.ts';

describe('--help', () => {
  it('lists every flag, variable, default and text within 100 columns', () => {
    const text = helpText();
    const words = new Set(text.split(/[\s,]+/));
    for (const spelling of knownSpellings) expect(words.has(spelling), spelling).to.equal(true);
    for (const key of settingKeys) {
      expect(words.has(variableOf(key)), key).to.equal(true);
      expect(text.replaceAll(/\s+/g, ' ')).to.include(settingOf(key).doc);
    }
    for (const line of text.split('\n')) expect(line.length).to.be.at.most(100);
  });
  it('has each setting in one group, ranges, aliases once, examples that are valid, and the exit codes', () => {
    expect(settingGroups.flatMap(({ settings }) => settings).sort()).to.deep.equal([...settingKeys].sort());
    const text = helpText();
    const plain = text.replaceAll(/\s+/g, ' ');
    for (const { title, page } of settingGroups) {
      expect(text).to.include(`\n${title} (${page}):\n`);
      expect(existsSync(packageFile(page.replace(/#.*/, ''))), page).to.equal(true);
    }
    expect(plain).to.include('clock starts. Range: 1970-01-02 to 2199-12-31.');
    expect(plain).to.include('-N INTEGER Number of devices. Range: 1 to 10000.');
    expect(plain).to.include('EVSE; PV is PV-3Phase, Batt is Batt-3Phase.');
    for (const [alias, name] of Object.entries(deviceTypeAliases))
      expect(deviceTypes[alias as keyof typeof deviceTypes]).to.equal(deviceTypes[name]);
    const commands = [...text.matchAll(/^ {2}derbench( .*?)?(?: {2,}|$)/gm)].map(([, flags = '']) => flags.trim());
    expect(commands).to.have.length(5);
    for (const flags of commands)
      expect(loadConfig(flags === '' ? [] : flags.split(' '), {}).kind, flags).to.equal('run');
    for (const code of Object.values(exitCodes)) expect(text).to.match(new RegExp(`^ {2}${code} {10,}[A-Z]`, 'm'));
  });
});
