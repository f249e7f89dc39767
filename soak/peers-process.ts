/** The servers of a soak in a process of their own. */
import { Peers } from './peers.ts';
import { serve } from './remote.ts';

let peers: Peers | null = null;
const present = () => {
  if (peers === null) throw new Error('call open first');
  return peers;
};

serve({
  async open(options: Parameters<typeof Peers.open>[0]) {
    peers = await Peers.open(options);
    return peers.addresses;
  },
  cut: (side: 'ocpp' | 'csip') => present().cut(side),
  report: () => present().report(),
  incomplete: (olderThanS: number, everyDevice: boolean) => present().incomplete(olderThanS, everyDevice),
  isSettled: () => present().isSettled,
  end: () => present().end(),
  close: () => present().close(),
});
