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

describe('issues of a lab that a request loads', () => {
  const issuesOf = (argv: readonly string[], lab: Readonly<Record<string, unknown>>) => {
    try {
      configOf(...argv).settings.lab(lab);
      return [];
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      return error.issues.map(({ name, detail }) => `${name} ${detail.split(';')[0] ?? ''}`);
    }
  };

  it('point to members of the file, also to those that it lacks', () => {
    const flags = ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://central.example/ocpp'];
    expect(issuesOf(flags, { ocpp_enable: true })).to.deep.equal(['/ocpp_csms_url not given with /ocpp_enable yes']);
    expect(issuesOf([], { mb_port: 20000, dnp3_enable: true, dnp3_shared_port: true })).to.deep.equal([
      '/mb_port given 20000, which /dnp3_port uses',
    ]);
  });

  it('have one of a refused member alone', () => {
    const lab = {
      dnp3_enable: true,
      dnp3_enc: true,
      dnp3_cert: 7,
      dnp3_key: 'certificate:a',
      dnp3_root_cert: 'certificate:a',
    };
    expect(issuesOf([], lab)).to.deep.equal(['/dnp3_cert given 7']);
  });

  it('name settings that a lab cannot change as the command line does', () => {
    expect(issuesOf(['-wp', '8123'], { mb_port: 8123, mb_shared_port: true })).to.deep.equal([
      '/mb_port given 8123, which -wp uses',
    ]);
    expect(
      issuesOf([], { ocpp_enable: true, ocpp_csms_url: 'ws://a.example/', ocpp_security_profile: 1 }),
    ).to.deep.equal(['--ocpp_password_file not given with /ocpp_security_profile 1']);
  });
});
