module Shop
  class Cart < Base
    attr_reader :x
    def total(a)
      items.each do |i|
        puts "x #{i}"
      end
    end

    def self.build
      new
    end
    class << self
      def other; 1; end
    end
  end
end
class A::B; end
