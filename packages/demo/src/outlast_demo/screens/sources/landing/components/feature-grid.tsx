import { CalendarDays, GitMerge, Keyboard, Lock, MessagesSquare } from "lucide-react";

import { Card } from "@/components/ui/card";
import { Sparkline } from "@/components/ui/chart";

const small = [
  {
    icon: MessagesSquare,
    title: "Talk where the work is",
    text: "Every plan has its own conversation, right next to it.",
  },
  {
    icon: Keyboard,
    title: "Hands on the keys",
    text: "One shortcut opens anything. Two take you back to where you were.",
  },
  { icon: Lock, title: "Yours alone", text: "Encrypted on your device before it leaves. Not even we can read it." },
];

const hours = [3.1, 3.4, 3.2, 4.1, 4.6, 4.4, 5.2, 5.9, 5.7, 6.8];

export function FeatureGrid() {
  return (
    <section id="product" className="mx-auto max-w-6xl px-6 py-20 sm:py-28">
      <p className="text-sm font-medium text-primary">Product</p>
      <h2 className="mt-3 max-w-2xl text-3xl font-semibold tracking-tight sm:text-5xl">Search less. Finish more.</h2>
      <div className="mt-12 grid gap-4 md:grid-cols-6">
        <Card className="relative gap-0 overflow-hidden p-7 md:col-span-4">
          <CalendarDays className="size-6 text-primary" />
          <h3 className="mt-5 text-xl font-semibold tracking-tight">A week that plans itself</h3>
          <p className="mt-2 max-w-md text-sm leading-relaxed text-muted-foreground">
            Driftwood looks at what is due and who is free, and proposes a week. You drag two things around and you are
            done.
          </p>
          <div className="mt-8 grid grid-cols-5 gap-2">
            {["Mon", "Tue", "Wed", "Thu", "Fri"].map((day, index) => (
              <div key={day} className="space-y-2 rounded-xl border bg-muted/30 p-2.5">
                <p className="text-xs text-muted-foreground">{day}</p>
                <div className="h-7 rounded-md bg-primary/25" style={{ opacity: 1 - index * 0.1 }} />
                {index % 2 === 0 && <div className="h-11 rounded-md bg-chart-2/25" />}
                <div className="h-5 rounded-md bg-chart-3/25" />
              </div>
            ))}
          </div>
        </Card>
        <Card id="workflow" className="gap-0 p-7 md:col-span-2">
          <GitMerge className="size-6 text-chart-2" />
          <h3 className="mt-5 text-xl font-semibold tracking-tight">Focus, measured gently</h3>
          <p className="mt-2 text-sm leading-relaxed text-muted-foreground">
            Hours without interruption, per person, for your eyes only.
          </p>
          <div className="mt-auto pt-8">
            <p className="text-4xl font-semibold tracking-tight tabular-nums">
              6.8 <span className="text-base font-normal text-muted-foreground">h a day</span>
            </p>
            <Sparkline values={hours} color="var(--chart-2)" className="mt-3 h-16" />
          </div>
        </Card>
        {small.map(({ icon: Icon, title, text }) => (
          <Card key={title} className="gap-0 p-7 transition-colors hover:border-primary/40 md:col-span-2">
            <span className="grid size-10 place-items-center rounded-xl bg-primary/10 text-primary">
              <Icon className="size-5" />
            </span>
            <h3 className="mt-5 font-semibold">{title}</h3>
            <p className="mt-1.5 text-sm leading-relaxed text-muted-foreground">{text}</p>
          </Card>
        ))}
      </div>
    </section>
  );
}
