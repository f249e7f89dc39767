import { post } from '../../api/call';
import { Form } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { RunUntil } from '../../kit/run-until';
import { dateAndTime, fixed, wallTime, words } from '../../look/format';
import { useClock, useClockOwner } from '../../store/site';
import { Pair, Writer } from './scope';

/** The simulated clock: rate, time of day, time zone. */
export function TimePanel() {
  const clock = useClock();
  const owner = useClockOwner();
  return (
    <Panel title="Time">
      <Pair
        present={
          clock && (
            <Facts
              rows={[
                ['Time of day', clock.clock_time],
                ['Date', dateAndTime(clock.sim_time).slice(0, 10)],
                ['Time zone', clock.timezone],
                ['Mode', words(clock.mode)],
                ['Rate', `×${fixed(clock.rate, 2)}, reached ×${fixed(clock.rate_effective, 2)}`],
                ['Wall clock', wallTime(clock.wall_time)],
                ['Set by', <Writer by={clock.changed_by} />],
                ['Stepped by', <Writer by={clock.stepped_by} />],
              ]}
            />
          )
        }
      >
        <Form
          fields={[
            { kind: 'choice', name: 'mode', label: 'Mode', options: ['wall_clock', 'accelerated', 'paused'] },
            { kind: 'number', name: 'rate', label: 'Rate', min: 0.01, max: 3600, hint: 'simulated seconds per second' },
            { kind: 'text', name: 'clock_time', label: 'Time of day', placeholder: 'HH:MM:SS' },
            { kind: 'text', name: 'timezone', label: 'Time zone', placeholder: 'Europe/Berlin' },
          ]}
          submit="Set the clock"
          call={(values) => post('controls/time', { body: values })}
        />
        {clock?.mode === 'paused' && owner === null && (
          <RunUntil simTime={clock.sim_time} clockTime={clock.clock_time} />
        )}
      </Pair>
    </Panel>
  );
}
