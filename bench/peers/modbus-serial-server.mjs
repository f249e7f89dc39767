// Peer: ServerTCP of the npm package modbus-serial. Arguments: port.
import ModbusRTU from 'modbus-serial';

const registers = Array.from({ length: 1000 }, (_, i) => i);
const base = 40000;

const server = new ModbusRTU.ServerTCP({
  // the range callback is its fastest way
  getMultipleHoldingRegisters: (address, count) => registers.slice(address - base, address - base + count),
}, { host: '127.0.0.1', port: Number(process.argv[2]), unitID: 1 });
server.on('socketError', () => undefined);
