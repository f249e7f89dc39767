import { expect } from 'chai';
import { freePorts } from '../support/ports.ts';
import { rows } from './support/ocpp-rows.ts';
import { describeWith, PythonPeer } from './support/peers.ts';

describeWith(['ocpp'], 'messages of OCPP 1.6', () => {
  it('each one that the package ocpp has is exchanged by one of the tests', async () => {
    const central = new PythonPeer('central_system', await freePorts(1));
    try {
      const shown = Object.values(rows).flat();
      expect(shown).to.have.members(await central.ask('actions'));
      expect(new Set(shown).size).to.equal(shown.length);
    } finally {
      await central.stop();
    }
  });
});
