import { ArrowRight, CheckCircle2, Circle, CirclePlay, Sparkles } from "lucide-react";

import { Avatar, AvatarFallback } from "@/components/ui/avatar";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Progress } from "@/components/ui/progress";
import { cn } from "@/lib/utils";

const people = ["AM", "JK", "SO", "LV"];
const today = [
  { text: "Send the revised contract to Halden", done: true, tag: "Legal" },
  { text: "Walk through onboarding with Priya", done: true, tag: "Product" },
  { text: "Choose photographs for the spring issue", done: false, tag: "Editorial" },
  { text: "Draft the agenda for Thursday", done: false, tag: "Team" },
];
const brands = ["Fernhill", "Oblique", "Marlow & Co", "Kestrel", "Studio Nord"];

export function Hero() {
  return (
    <section id="top" className="relative isolate px-6 pt-20 pb-16 sm:pt-28">
      <div
        aria-hidden="true"
        className="absolute inset-x-0 -top-24 -z-10 h-[40rem] bg-[radial-gradient(60%_55%_at_50%_0%,color-mix(in_oklab,var(--primary)_32%,transparent),transparent)]"
      />
      <div
        aria-hidden="true"
        className="absolute inset-0 -z-10 bg-[linear-gradient(to_right,var(--border)_1px,transparent_1px),linear-gradient(to_bottom,var(--border)_1px,transparent_1px)] [mask-image:radial-gradient(50%_50%_at_50%_20%,black,transparent)] bg-[size:56px_56px] opacity-50"
      />
      <div className="mx-auto flex max-w-4xl flex-col items-center text-center">
        <Badge variant="outline" className="gap-2 rounded-full border-primary/30 bg-primary/10 py-1 pr-3 pl-2 text-sm">
          <Sparkles className="text-primary" />
          Driftwood 4 is here
          <ArrowRight className="text-muted-foreground" />
        </Badge>
        <h1 className="mt-8 text-5xl leading-[1.04] font-semibold tracking-[-0.035em] sm:text-7xl">
          Your team&rsquo;s week,
          <span className="block bg-gradient-to-r from-primary via-chart-4 to-chart-3 bg-clip-text pb-2 text-transparent">
            finally in one place
          </span>
        </h1>
        <p className="mt-6 max-w-2xl text-lg leading-relaxed text-muted-foreground">
          Plans, notes and decisions drift apart until no one knows which is current. Driftwood keeps them together, so
          Monday starts where Friday ended.
        </p>
        <div className="mt-9 flex flex-col gap-3 sm:flex-row">
          <Button size="lg" className="shadow-lg shadow-primary/25">
            Start free
            <ArrowRight />
          </Button>
          <Button size="lg" variant="outline" className="bg-background/50 backdrop-blur">
            <CirclePlay />
            See it in two minutes
          </Button>
        </div>
        <div className="mt-8 flex items-center gap-4 text-sm text-muted-foreground">
          <span className="flex -space-x-2">
            {people.map((name) => (
              <Avatar key={name} className="size-8 ring-2 ring-background">
                <AvatarFallback className="bg-secondary text-[0.65rem] text-secondary-foreground">
                  {name}
                </AvatarFallback>
              </Avatar>
            ))}
          </span>
          Loved by 4,200 small teams
        </div>
      </div>

      <div className="mx-auto mt-20 max-w-5xl rounded-3xl border bg-card/50 p-2 shadow-2xl ring-1 shadow-primary/10 ring-foreground/5 backdrop-blur">
        <div className="grid overflow-hidden rounded-2xl border bg-card text-left md:grid-cols-[15rem_1fr]">
          <aside className="hidden flex-col gap-1 border-r bg-muted/40 p-4 text-sm md:flex">
            <p className="mb-2 px-2 text-xs font-medium text-muted-foreground">Spring launch</p>
            {["This week", "Roadmap", "Decisions", "Notebook", "People"].map((item, index) => (
              <p
                key={item}
                className={cn(
                  "rounded-lg px-2.5 py-1.5 text-muted-foreground",
                  index === 0 && "bg-primary/15 font-medium text-foreground",
                )}
              >
                {item}
              </p>
            ))}
            <div className="mt-10 rounded-xl border bg-card p-3">
              <p className="text-xs font-medium">Launch readiness</p>
              <Progress value={72} className="mt-2.5 h-1.5" />
              <p className="mt-2 text-xs text-muted-foreground">18 of 25 steps done</p>
            </div>
          </aside>
          <div className="min-w-0 p-6 sm:p-8">
            <p className="text-sm text-muted-foreground">Tuesday, 14 April</p>
            <p className="mt-1 text-2xl font-semibold tracking-tight">Good morning, Ada</p>
            <ul className="mt-6 grid grid-cols-1 gap-2">
              {today.map((task) => (
                <li
                  key={task.text}
                  className="flex items-center gap-3 rounded-xl border bg-background/60 px-4 py-3 text-sm"
                >
                  {task.done ? (
                    <CheckCircle2 className="size-4.5 shrink-0 text-chart-2" />
                  ) : (
                    <Circle className="size-4.5 shrink-0 text-muted-foreground" />
                  )}
                  <span className={cn("min-w-0 flex-1 truncate", task.done && "text-muted-foreground line-through")}>
                    {task.text}
                  </span>
                  <Badge variant="secondary">{task.tag}</Badge>
                </li>
              ))}
            </ul>
          </div>
        </div>
      </div>

      <div id="customers" className="mx-auto mt-20 max-w-5xl text-center">
        <p className="text-sm text-muted-foreground">Where calm teams get things done</p>
        <ul className="mt-6 flex flex-wrap items-center justify-center gap-x-12 gap-y-4 text-lg font-semibold tracking-tight text-muted-foreground/70">
          {brands.map((brand) => (
            <li key={brand}>{brand}</li>
          ))}
        </ul>
      </div>
    </section>
  );
}
