import { expect } from 'chai';
import { startGoCentral } from './support/ocpp-go.ts';
import { profilesOf } from './support/ocpp-security.ts';
import type { ProfilesCase } from './support/ocpp-security.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

const hexadecimal = '00ff3a80c3289f7b0a0d22275c00fe01';

const with16: Omit<ProfilesCase, 'open'> = {
  // octets that are no text: they go through as they are
  password: hexadecimal,
  octets: Buffer.from(hexadecimal, 'hex'),
  atWork: async (station, profile) => {
    const { configurationKey } = await station.call('GetConfiguration', { key: ['SecurityProfile'] });
    expect(configurationKey[0].value).to.equal(String(profile));
    await station.start('TAG-1');
    await station.connector('authorize', { id_token: 'TAG-1' });
    await station.next('StopTransaction', { idTag: 'TAG-1' });
    await station.connector('unplug');
    await station.status('Available');
  },
};

describeWith(['ocpp', 'openssl'], 'security profiles of OCPP 1.6 at the package ocpp', () => {
  profilesOf({ ...with16, open: (port, options) => new PythonPeer('central_system', port, JSON.stringify(options)) });
});

describeWith(['go', 'openssl'], 'security profiles of OCPP 1.6 at ocpp-go', () => {
  profilesOf({ ...with16, open: startGoCentral });
});
