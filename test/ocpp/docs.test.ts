import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { linkedFile } from '../support/repository.ts';
import { ocppSettings } from '../../src/config/settings/ocpp.ts';
import { ocppVersions } from '../../src/contract/ocpp-settings.ts';
import { bootTable16 } from '../../src/ocpp/provisioning/registration.ts';
import { errorCode } from '../../src/ocpp/rpc/frames.ts';
import type { ErrorSituation } from '../../src/ocpp/rpc/frames.ts';
import { directions } from '../../src/ocpp/v16/stack.ts';
import { keyTable } from '../../src/ocpp/v16/keys/table.ts';

const docs = new URL('../../docs/protocols/', import.meta.url);
const text = readFileSync(new URL('ocpp.md', docs), 'utf8');

/** The text below a heading of any level, up to the next one. */
const section = (heading: string) =>
  new RegExp(`\\n#+ ${heading}\\n([^]*?)\\n#`).exec(text)?.[1] ?? expect.fail(`no section ${heading}`);

/** Rows of the tables in a text, without head and rule. */
const rowsOf = (part: string) =>
  part
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.replace(/^\| | \|$/g, '').split(' | '));

describe('docs/protocols/ocpp.md', () => {
  it('has every flag', () => {
    for (const { flags } of Object.values(ocppSettings))
      expect(section('Flags')).to.contain(`\`${flags?.at(-1) ?? '?'}\``);
    for (const version of ocppVersions) expect(section('Flags')).to.contain(`\`${version}\``);
  });

  it('has every configuration key with its access, default and effect', () => {
    const facts = {
      connectorIds: [1],
      securityProfile: 0,
      threePhase: true,
      fileTransferProtocols: ['HTTP', 'HTTPS'],
    } as const;
    const wanted = keyTable.map(({ name, access, initial, effect, reboot }) => {
      const value = typeof initial === 'string' ? initial : initial(facts);
      const shown = value === '' ? '' : `\`${value.replaceAll(',', ', ')}\``;
      return `| ${name} | ${access} | ${shown} | ${effect}${reboot ? '; restart' : ''} |`;
    });
    expect(section('Configuration keys')).to.contain(`\n${wanted.join('\n')}\n`);
  });

  it('has the error codes of each version', () => {
    const situations: readonly ErrorSituation[] = [
      ...(['unknownAction', 'unsupportedAction', 'duplicateId', 'structure', 'occurrence', 'type', 'value'] as const),
      ...(['security', 'internal'] as const),
    ];
    const wanted = situations.map((situation) =>
      (['ocpp1.6', 'ocpp2.1'] as const).map((version) => errorCode(version, situation)),
    );
    expect(rowsOf(section('Error codes')).map(([, ...codes]) => codes)).to.deep.equal(wanted);
  });

  it('has a row for each state of the registration', () => {
    expect(rowsOf(section('Registration'))).to.have.length(Object.keys(bootTable16).length);
  });

  it('has every message with its direction and a test that sends or answers it', () => {
    const words = { station: 'CP', central: 'CS', both: 'both' };
    const rows = rowsOf(section('Messages'));
    expect(rows.map(([message, direction]) => [message, direction])).to.deep.equal(
      Object.entries(directions).map(([action, direction]) => [action, words[direction]]),
    );
    for (const [message = '', , , test = ''] of rows) {
      const [, path = ''] = /\]\(([^)]+)\)/.exec(test) ?? [];
      const source = readFileSync(linkedFile(path), 'utf8');
      expect(source.includes(message), `${message} in ${path}`).to.equal(true);
    }
  });
});
