import { Star } from "lucide-react";

import { Avatar, AvatarFallback } from "@/components/ui/avatar";
import { Card } from "@/components/ui/card";

const voices = [
  {
    words: "We cancelled three other tools in the first month. No one has missed them.",
    name: "Ines Holm",
    role: "Head of design, Fernhill",
    look: "bg-chart-1/20 text-chart-1",
  },
  {
    words: "It is the first app I open in the morning and the only one that I leave open.",
    name: "Tomás Rey",
    role: "Founder, Oblique",
    look: "bg-chart-2/20 text-chart-2",
  },
  {
    words: "Our meetings are half as long, because everyone arrives prepared.",
    name: "Amina Diallo",
    role: "Operations, Kestrel",
    look: "bg-chart-4/20 text-chart-4",
  },
];

export function Testimonials() {
  return (
    <section id="voices" className="mx-auto w-full max-w-6xl px-6 py-20">
      <p className="text-center text-sm font-medium text-primary">Testimonials</p>
      <h2 className="mt-3 text-center text-3xl font-semibold tracking-tight sm:text-4xl">One month in</h2>
      <div className="mt-12 grid gap-4 md:grid-cols-3">
        {voices.map((voice) => (
          <Card key={voice.name} className="gap-0 p-7">
            <div className="flex gap-1 text-chart-3" role="img" aria-label="5 out of 5 stars">
              {Array.from({ length: 5 }, (_, index) => (
                <Star key={index} className="size-4 fill-current" />
              ))}
            </div>
            <blockquote className="mt-5 leading-relaxed">{voice.words}</blockquote>
            <div className="mt-auto flex items-center gap-3 pt-7">
              <Avatar>
                <AvatarFallback className={voice.look}>
                  {voice.name
                    .split(" ")
                    .map((part) => part[0])
                    .join("")}
                </AvatarFallback>
              </Avatar>
              <div className="text-sm">
                <p className="font-medium">{voice.name}</p>
                <p className="text-muted-foreground">{voice.role}</p>
              </div>
            </div>
          </Card>
        ))}
      </div>
    </section>
  );
}
