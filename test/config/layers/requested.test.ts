import { expect } from 'chai';
import { noCertificates } from '../../../src/contract/certificates.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { SettingKey } from '../../../src/config/settings/settings.ts';
import { configOf } from '../../support/configured.ts';

/** The configuration after a request, or the names of its issues. */
function requested(argv: readonly string[], values: Partial<Record<SettingKey, unknown>>) {
  const { settings } = configOf(...argv);
  try {
    return settings.with(new Map(Object.entries(values) as [SettingKey, unknown][]), noCertificates);
  } catch (error) {
    if (error instanceof SimError) return error.issues.map(({ name }) => name);
    throw error;
  }
}

describe('addresses of peers in the settings', () => {
  const url = 'ws://central.example/ocpp';
  const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csms_url', url];
  const isGuarded = (values: Partial<Record<SettingKey, unknown>>) => {
    const config = requested(ocpp, values);
    return 'ocpp' in config && config.ocpp?.guarded;
  };

  it('follow the outbound rules where a request has changed them', () => {
    expect(isGuarded({})).to.equal(false);
    expect(isGuarded({ ocpp_auto_authorize: false })).to.equal(false);
    expect(isGuarded({ ocpp_csms_url: url })).to.equal(false);
    expect(isGuarded({ ocpp_csms_url: 'ws://other.example/ocpp' })).to.equal(true);
  });

  it('may be anywhere at the start; a request leads to no other port of such a server', () => {
    const server = ['--csip_server_ip', '169.254.1.1', '--csip_server_port', '8443'];
    expect(requested(server, { csip_server_port: 8443 })).to.not.be.an('array');
    expect(requested(server, { csip_server_port: 22 })).to.deep.equal(['/csip_server_port']);
    expect(requested([], { csip_server_ip: '169.254.1.1' })).to.deep.equal(['/csip_server_ip']);
    expect(requested([], { ocpp_csms_url: 'ws://169.254.1.1/x' })).to.deep.equal(['/ocpp_csms_url']);
  });
});
